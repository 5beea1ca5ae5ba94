//! Fields that take no text: select elements and file inputs. The script `element.js` chooses the options and checks the
//! field.

use std::path::Path;

use helmdeck_wire::browser::{Acted, SelectOptions, Selected, UploadFiles};
use serde::de::IgnoredAny;
use serde_json::json;

use crate::{
    BrowserError,
    locate::{Ask, Want},
    page_action::PageAction,
    world::Outcome,
};

impl PageAction {
    pub async fn select(&mut self, select: &SelectOptions) -> Result<Selected, BrowserError> {
        let SelectOptions { selector, values, .. } = select;
        let arguments = json!({ "values": values });
        let ask = Ask { selector, want: Want::Enabled, doing: "choose", arguments };
        let found = self.find(&ask).await?;
        self.settle(false).await;
        Ok(Selected { acted: self.acted().await?, values: found.answer.values })
    }

    pub async fn upload(
        &mut self,
        home: &Path,
        upload: &UploadFiles,
    ) -> Result<Acted, BrowserError> {
        let mut files = Vec::new();
        for file in &upload.files {
            let path = home.join(file.as_str());
            let is_file = tokio::fs::metadata(&path).await.is_ok_and(|found| found.is_file());
            if !is_file {
                return Err(BrowserError::FileNotFound(file.to_string()));
            }
            files.push(path);
        }
        let arguments = json!({ "count": files.len() });
        // File inputs are usually hidden behind a styled button.
        let selector = &upload.selector;
        let ask = Ask { selector, want: Want::Attached, doing: "file", arguments };
        let found = self.find(&ask).await?;
        let Outcome::Value(field) = self.page.kept(&found.frame, self.deadline).await? else {
            return Err(self.not_found(selector).await);
        };
        let params = json!({ "files": files, "objectId": field });
        let session = &found.frame.session;
        self.page
            .call::<IgnoredAny>(session, "DOM.setFileInputFiles", params, self.deadline)
            .await?;
        self.settle(false).await;
        self.acted().await
    }
}
