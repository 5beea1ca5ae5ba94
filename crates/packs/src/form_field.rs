//! Fields of a form on the desktop: found by their label, filled, and read again.

use helmdeck_vision::eyes::middle;
use helmdeck_wire::{
    Action as _, ActionCall, ErrorCode,
    browser::{ConcealField, Patience, SelectOptions, Selector},
    keyboard::{Key, Type},
    observe::Observation,
    parse::Invalid,
    point::{Pixel, Rect},
    pointer::Click,
    tree::{Candidate, Find, ReadTree, Tree, TreeNode},
};
use serde_json::{Value, json};

use crate::{Context, PackError, PackResult};

/// Roles of elements that can be filled.
const FILLABLE: [&str; 12] = [
    "textbox",
    "searchbox",
    "combobox",
    "spinbutton",
    "entry",
    "text",
    "passwordtext",
    "listbox",
    "checkbox",
    "switch",
    "radio",
    "slider",
];
/// Roles of elements that are on or off.
const TOGGLES: [&str; 3] = ["checkbox", "switch", "radio"];
/// Values that mean on.
const ON: [&str; 6] = ["true", "on", "yes", "1", "checked", "x"];

/// Where a field is.
#[derive(Debug, Clone)]
pub struct Field {
    /// Its ref.
    pub reference: Option<String>,
    /// Its role.
    pub role: String,
    /// The part of the screen that it covers.
    pub rect: Rect,
    /// Its states.
    pub states: Vec<String>,
}

impl Field {
    /// Whether it is on or off.
    pub fn is_toggle(&self) -> bool {
        TOGGLES.contains(&self.role.as_str())
    }

    /// The pixel where it is clicked.
    pub fn middle(&self) -> Pixel {
        middle(self.rect)
    }

    fn from_node(node: &TreeNode) -> Self {
        Self {
            reference: Some(node.reference.clone()),
            role: node.role.clone(),
            rect: node.rect,
            states: node.states.clone(),
        }
    }

    /// The field where a model clicked, if nothing tells what it is.
    pub fn at(point: Pixel) -> Self {
        let rect = Rect { x: point.x, y: point.y, width: 1, height: 1 };
        Self { reference: None, role: String::new(), rect, states: Vec::new() }
    }
}

/// Whether an element with this role can be filled.
pub fn is_fillable(role: &str) -> bool {
    FILLABLE.contains(&role.replace(['-', '_', ' '], "").as_str())
}

/// The one field with this label. Nothing if there is none, or more than one.
pub async fn by_label(context: &Context, label: &str) -> PackResult<Option<Field>> {
    let find =
        Find { name: Some(label.to_owned()), limit: Some(50), ocr: false, ..Find::default() };
    let found = context.act(&find).await?.candidates;
    let usable =
        |it: &&Candidate| is_fillable(&it.role) && !it.states.iter().any(|s| s == "disabled");
    let fields: Vec<_> = found.iter().filter(usable).collect();
    let exact: Vec<_> = fields.iter().filter(|it| plain(&it.name) == plain(label)).collect();
    let one = match (exact.as_slice(), fields.as_slice()) {
        ([one], _) => Some(**one),
        ([], [one]) => Some(*one),
        _ => None,
    };
    Ok(one.map(|it| Field {
        reference: it.reference.clone(),
        role: it.role.clone(),
        rect: it.rect,
        states: it.states.clone(),
    }))
}

/// A label without case and punctuation at its end.
fn plain(label: &str) -> String {
    label.trim().trim_end_matches([':', '*', ' ', '…']).trim().to_lowercase()
}

/// The field that has the keyboard focus.
pub async fn focused(context: &Context) -> PackResult<Option<Field>> {
    let tree = context.act(&ReadTree::default()).await?;
    Ok(focus(&tree).filter(|node| is_fillable(&node.role)).map(Field::from_node))
}

fn focus(tree: &Tree) -> Option<&TreeNode> {
    let wanted = tree.focus.as_ref()?;
    tree.nodes.iter().find(|node| node.reference == *wanted)
}

/// Whether a field has the keyboard focus.
pub async fn has_focus(context: &Context, field: &Field) -> PackResult<bool> {
    let tree = context.act(&ReadTree::default()).await?;
    let node = focus(&tree);
    Ok(node.is_some_and(|node| Some(&node.reference) == field.reference.as_ref()))
}

/// Lets a field of a page show dots for what is typed into it, and returns the address of the document that gets it.
/// `None` if it is no field of a page.
pub async fn conceal(context: &Context, field: &Field) -> PackResult<Option<String>> {
    let reference = field.reference.as_ref().filter(|it| it.starts_with(['e', 'p']));
    let Some(reference) = reference else { return Ok(None) };
    let conceal = ConcealField {
        selector: Selector::Ref(reference.clone()),
        tab: None,
        timeout_s: Patience::seconds(5.0),
    };
    Ok(Some(context.act(&conceal).await?.url).filter(|url| !url.is_empty()))
}

/// What a field holds, if its program tells. Password fields never do.
pub async fn value_of(context: &Context, field: &Field) -> PackResult<Option<Candidate>> {
    let Some(reference) = &field.reference else { return Ok(None) };
    let find = Find { reference: Some(reference.clone()), ocr: false, ..Find::default() };
    let found = context.act(&find).await?.candidates;
    Ok(found.into_iter().find(|it| it.reference.as_ref() == Some(reference)))
}

/// Puts a value into a field. With `quiet`, nothing of it is observed: no picture of it is kept.
pub async fn fill(
    context: &Context,
    field: &Field,
    value: &str,
    quiet: bool,
) -> PackResult<Observation> {
    if field.is_toggle() {
        let wanted = ON.contains(&value.trim().to_lowercase().as_str());
        let checked = field.states.iter().any(|state| state == "checked");
        return match wanted == checked {
            true => Ok(Observation::default()),
            false => click(context, field, quiet).await,
        };
    }
    if matches!(field.role.as_str(), "combobox" | "listbox")
        && let Some(reference) = field.reference.as_ref().filter(|it| it.starts_with(['e', 'p']))
    {
        let select = SelectOptions {
            selector: Selector::Ref(reference.clone()),
            values: vec![value.to_owned()],
            tab: None,
            timeout_s: Patience::seconds(5.0),
        };
        // One that is no `<select>` is filled like any other field.
        if context.act(&select).await.is_ok() {
            return Ok(Observation::default());
        }
    }
    let clicked = click(context, field, quiet).await?;
    let typed = enter(context, value, quiet).await?;
    Ok(Observation { hit: clicked.hit, ..typed })
}

/// Replaces what the focused field holds.
pub async fn enter(context: &Context, value: &str, quiet: bool) -> PackResult<Observation> {
    perform(context, Key::call(json!({ "keys": "ctrl+a" }))).await?;
    let typed = match value.is_empty() {
        true => Key::call(json!({ "keys": "Delete" })),
        false => Type::call(options(json!({ "text": value }), quiet)),
    };
    perform(context, typed).await
}

/// Clicks an element.
pub async fn click(context: &Context, field: &Field, quiet: bool) -> PackResult<Observation> {
    let Pixel { x, y } = field.middle();
    let fields = match &field.reference {
        Some(reference) => json!({ "target": { "ref": reference } }),
        None => json!({ "x": x, "y": y }),
    };
    perform(context, Click::call(options(fields, quiet))).await
}

/// Waits until the screen is quiet and says what was hit and what changed, unless nothing is to be kept.
fn options(mut fields: Value, quiet: bool) -> Value {
    if let Value::Object(fields) = &mut fields
        && !quiet
    {
        fields.insert("settle".to_owned(), json!({}));
        fields.insert("hit".to_owned(), true.into());
        fields.insert("observe".to_owned(), "diff".into());
    }
    fields
}

async fn perform(context: &Context, call: Result<ActionCall, Invalid>) -> PackResult<Observation> {
    // Texts of errors never quote the input.
    let call = call.map_err(|invalid| {
        PackError::new(ErrorCode::InvalidInput, format!("{}: invalid value", invalid.field))
    })?;
    let reply = context.session()?.act(&context.caller, &call).await?;
    Ok(serde_json::from_slice(&reply.body).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_compared_without_case_and_marks() {
        assert_eq!(plain(" E-mail: * "), plain("e-mail"));
        assert_ne!(plain("Name"), plain("Surname"));
        assert!(is_fillable("textbox") && is_fillable("password text") && !is_fillable("button"));
    }
}
