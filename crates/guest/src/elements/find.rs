//! The tree of the screen, and finding elements in it.

use std::time::Duration;

use helmdeck_a11y::{
    Element, Scene,
    matching::{self, Match},
    tree::{self, TreeLimits},
};
use helmdeck_browser::{Exposure, PageElements};
use helmdeck_wire::{
    ErrorBody, ErrorCode,
    aim::{Source, Target},
    browser::TabId,
    point::{Pixel, Rect},
    tree::{Candidate, Find, FindInPage, Found, ReadTree, Tree, TreeWindow},
};

use super::gather::{self, Extent};
use crate::{begin::Guest, error::GuestError};

/// Default limits of a tree.
const MAX_NODES: usize = 500;
const MAX_BYTES: usize = 100_000;
/// Default limit on candidates.
const CANDIDATES: usize = 10;
/// How many similar names are mentioned.
const NEAREST: usize = 5;
/// How long a page may take to list its elements.
const PAGE_DEADLINE: Duration = Duration::from_secs(5);

impl Guest {
    /// What is on the screen.
    pub async fn tree(&self, wanted: &ReadTree) -> Result<Tree, GuestError> {
        let gathered = gather::everything(self, Extent::Visible, None).await?;
        let scene = &gathered.scene;
        let mut nodes = tree::nodes(scene);
        let all = scene.surfaces.iter();
        let listed = all.filter(|surface| surface.listed || surface.window.panel);
        let mut windows: Vec<TreeWindow> = listed.map(|surface| surface.window.clone()).collect();
        // Panels lie above the windows that are used.
        windows.sort_by_key(|window| window.panel);
        if let Some(id) = wanted.window_id {
            let id = id.0.to_string();
            windows.retain(|window| window.id == id);
            nodes.retain(|node| node.window == id);
            if windows.is_empty() {
                let message = format!("no visible window has the id {id}");
                let body = ErrorBody::new(ErrorCode::WindowNotFound, message);
                return Err(GuestError::Refused(body));
            }
        }
        let number = |number: Option<u32>, usual: usize| {
            number.and_then(|number| usize::try_from(number).ok()).unwrap_or(usual)
        };
        let limits = TreeLimits {
            nodes: number(wanted.max_nodes, MAX_NODES),
            bytes: number(wanted.max_bytes, MAX_BYTES),
        };
        let focus = scene.focus().map(|element| element.reference.clone());
        let mut past = self.elements.past.lock();
        let only = wanted.window_id.map(|id| id.0.to_string());
        let parts = tree::Parts { windows, focus, nodes, only };
        let tree = past.tree(parts, wanted.since, limits);
        Ok(Tree { notes: gathered.notes, ..tree })
    }

    /// Elements on the screen that match. The picture is read if there are none.
    pub async fn find(&self, find: &Find) -> Result<Found, GuestError> {
        self.find_or_read(find, |it| it.confidence >= matching::SIMILAR).await
    }

    /// The same. The picture is also read if all that match are out of view.
    pub async fn find_visible(&self, find: &Find) -> Result<Found, GuestError> {
        self.find_or_read(find, is_seen).await
    }

    async fn find_or_read(
        &self,
        find: &Find,
        suffices: impl Fn(&Candidate) -> bool,
    ) -> Result<Found, GuestError> {
        let target = find.target();
        let wanted = matching::wanted(&target);
        let gathered = gather::everything(self, Extent::Everything, wanted.as_deref()).await?;
        let most = find.limit.and_then(|most| usize::try_from(most).ok()).unwrap_or(CANDIDATES);
        let mut found = found(&gathered.scene, &target, most);
        found.notes.extend(gathered.notes);
        let certain = |found: &Found| found.candidates.iter().any(&suffices);
        if find.ocr && !certain(&found) && target.reference.is_none() {
            match self.read_text(&gathered.scene, &target).await {
                Ok(read) => {
                    found.count += read.len();
                    found.candidates.splice(0..0, read);
                    found.candidates.truncate(most);
                }
                Err(note) => found.notes.push(note),
            }
        }
        if certain(&found) {
            found.nearest.clear();
        }
        Ok(found)
    }

    /// Visible elements that can be used, window by window from the top, for marks on a picture.
    pub async fn interactive_elements(&self, most: usize) -> Result<Vec<Candidate>, GuestError> {
        let gathered = gather::everything(self, Extent::Visible, None).await?;
        Ok(found(&gathered.scene, &Target::default(), most).candidates)
    }

    /// Descriptions of the visible elements that can be used nearest to a point, without that at the
    /// point itself.
    pub async fn usable_near(&self, at: Pixel, most: usize) -> Result<Vec<String>, GuestError> {
        let gathered = gather::everything(self, Extent::Visible, None).await?;
        let scene = &gathered.scene;
        let matches = matching::find(scene, &Target { near: Some(at), ..Target::default() });
        let near = matches.iter().filter_map(|found| scene.elements.get(found.at));
        let beside = |element: &&Element| {
            element.shown().is_some_and(|rect| !helmdeck_a11y::rect::contains(rect, at))
        };
        let near = near.filter(beside).take(most);
        Ok(near.map(|element| description(scene, element)).collect())
    }

    /// Elements of a page that match.
    pub async fn find_in_page(&self, find: &FindInPage) -> Result<Found, GuestError> {
        self.find_in_tab(find.tab.as_ref(), &find.target(), find.limit).await
    }

    /// The same for a target. Its window is compared with the title of the page.
    pub async fn find_in_tab(
        &self,
        tab: Option<&TabId>,
        target: &Target,
        limit: Option<u32>,
    ) -> Result<Found, GuestError> {
        let scene = self.page_scene(tab, target).await?;
        let most = limit.and_then(|most| usize::try_from(most).ok()).unwrap_or(CANDIDATES);
        let mut found = found(&scene, target, most);
        for candidate in &mut found.candidates {
            candidate.window = None;
        }
        Ok(found)
    }

    /// The elements of a page as a scene, whose screen is the viewport.
    pub async fn page_scene(
        &self,
        tab: Option<&TabId>,
        target: &Target,
    ) -> Result<Scene, GuestError> {
        let wanted = matching::wanted(target);
        let page = self.browser()?.elements(tab, wanted.as_deref(), PAGE_DEADLINE).await?;
        Ok(page_scene(page))
    }
}

/// Whether a candidate matches, and is in view.
pub fn is_seen(candidate: &Candidate) -> bool {
    candidate.confidence >= matching::SIMILAR && !candidate.off_screen
}

fn found(scene: &Scene, target: &Target, most: usize) -> Found {
    let matches = matching::find(scene, target);
    let candidates =
        matches.iter().take(most).filter_map(|found| candidate(scene, found)).collect();
    let nearest = matching::nearest(scene, target, NEAREST);
    let notes = matching::foreign_ref(target).into_iter().collect();
    Found { candidates, count: matches.len(), nearest, notes }
}

/// A match as it is reported.
pub fn candidate(scene: &Scene, found: &Match) -> Option<Candidate> {
    let element = scene.elements.get(found.at)?;
    let surface = element.surface.and_then(|at| scene.surfaces.get(at));
    Some(Candidate {
        reference: Some(element.reference.clone()),
        role: element.role.clone(),
        name: element.name.trim().to_owned(),
        value: element.value.clone(),
        states: element.states.clone(),
        rect: element.shown().or(element.rect)?,
        confidence: (found.confidence * 100.0).round() / 100.0,
        source: element.source,
        window: surface.map(|surface| surface.window.id.clone()),
        off_screen: element.parts.is_empty(),
    })
}

/// An element in a sentence: `button "Save" (a12) at 100,20 in "Editor"`.
pub fn description(scene: &Scene, element: &Element) -> String {
    let Element { role, name, reference, .. } = element;
    let surface = element.surface.and_then(|at| scene.surfaces.get(at));
    let place = element.point().map(|at| format!(" at {},{}", at.x, at.y)).unwrap_or_default();
    let window = surface.map(|it| it.window.name.as_str()).filter(|title| !title.is_empty());
    let window = window.map(|title| format!(" in {title:?}")).unwrap_or_default();
    format!("{role} {:?} ({reference}){place}{window}", name.trim())
}

/// A page as a scene with one window.
fn page_scene(page: PageElements) -> Scene {
    let size = |length: f64| length.round().clamp(0.0, 65_535.0) as u32;
    let screen = Rect { x: 0, y: 0, width: size(page.size.0), height: size(page.size.1) };
    let window =
        TreeWindow { name: page.title, focused: true, rect: screen, ..TreeWindow::default() };
    let edge = |at: f64| at.round().clamp(-1e6, 1e6) as i32;
    let elements = page.elements.into_iter().map(|element| {
        let [x, y, width, height] = element.rect;
        let rect =
            helmdeck_a11y::rect::from_edges(edge(x), edge(y), edge(x + width), edge(y + height));
        Element {
            reference: element.reference,
            parent: element.parent,
            surface: Some(0),
            role: element.role,
            name: element.name,
            value: element.value,
            states: element.states,
            rect,
            veiled: element.exposure != Exposure::Visible,
            source: Source::Dom,
            ..Element::default()
        }
    });
    let surfaces = vec![helmdeck_a11y::Surface { window, frame: screen, listed: true }];
    let mut scene = Scene { screen, surfaces, elements: elements.collect() };
    scene.reveal();
    scene
}
