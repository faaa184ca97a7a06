//! `quad get -w`: what changes, as it changes. On a terminal the table stays where it is and changes; elsewhere a
//! line comes for each change.

use std::{fmt::Write as _, time::Duration};

use futures::StreamExt as _;
use http::{Request, header};
use kube::core::WatchEvent;
use serde_json::Value;

use super::{Form, Wanted, written};
use crate::{
    failure::Failure,
    fields, output,
    requests::{OBJECTS, TABLE},
    style::Style,
    table::Table,
    terminal,
};

/// How often ages are drawn anew.
const TICK: Duration = Duration::from_secs(1);

/// What is shown of what changes.
enum View {
    /// A table that changes in place.
    Live { table: Table, drawn: usize },
    /// A table that grows.
    Lines(Table),
    /// Whole objects, one after the other.
    Whole(Form, String),
}

/// How a watch ended.
enum End {
    /// The server closes every watch after a while: go on from there.
    InTime,
    /// The server has forgotten where we were: read everything anew.
    Forgotten,
}

impl Wanted<'_> {
    /// Shows everything, then what changes, until the user ends it.
    pub(super) async fn follow(&self, form: Option<Form>) -> Result<(), Failure> {
        let style = Style::of_standard_output();
        let mut view = match form {
            Some(form @ (Form::Yaml | Form::Json | Form::Name)) => View::Whole(form, String::new()),
            _ if style.is_on() => View::Live {
                table: self.table().await?,
                drawn: 0,
            },
            _ => View::Lines(self.table().await?),
        };
        self.first(&mut view, style).await?;
        loop {
            match self.watch(&mut view, style).await? {
                End::InTime => {}
                End::Forgotten => match &mut view {
                    View::Live { table, .. } | View::Lines(table) => {
                        table.clear();
                        *table = self.table().await?;
                    }
                    View::Whole(..) => self.first(&mut view, style).await?,
                },
            }
        }
    }

    async fn first(&self, view: &mut View, style: Style) -> Result<(), Failure> {
        match view {
            View::Live { table, drawn } => redraw(table, drawn, style),
            View::Lines(table) if table.is_empty() => {
                self.none_found();
                Ok(())
            }
            View::Lines(table) => output::write(table.text(style).as_bytes()),
            View::Whole(form, revision) => {
                let mut answers = Vec::new();
                self.read(OBJECTS, |answer| answers.push(answer)).await?;
                for answer in answers {
                    let told = fields::text(&answer["metadata"], "resourceVersion");
                    told.clone_into(revision);
                    let items = answer["items"].as_array().cloned();
                    for mut object in items.unwrap_or_else(|| vec![answer]) {
                        object["apiVersion"] = self.kind.api_version().into();
                        object["kind"] = self.kind.kind().into();
                        self.told_whole(object, *form)?;
                    }
                }
                Ok(())
            }
        }
    }

    async fn watch(&self, view: &mut View, style: Style) -> Result<End, Failure> {
        let (revision, form) = match view {
            View::Live { table, .. } | View::Lines(table) => (table.revision(), TABLE),
            View::Whole(_, revision) => (revision.as_str(), OBJECTS),
        };
        let name = match self.names.as_slice() {
            [name] => format!("metadata.name={name}"),
            _ => String::new(),
        };
        let mut parameters = vec![("watch", "true"), ("resourceVersion", revision)];
        if !name.is_empty() {
            parameters.push(("fieldSelector", &name));
        }
        let request = Request::get(self.query(&parameters))
            .header(header::ACCEPT, form)
            .body(Vec::new())
            .map_err(|error| Failure::new("the request cannot be made").because(&error))?;
        let events = self.cluster.client.request_events::<Value>(request).await;
        let events = match events {
            Ok(events) => events,
            Err(kube::Error::Api(status)) if status.code == 410 => return Ok(End::Forgotten),
            Err(error) => return Err(self.unread(None, &error).await),
        };
        let mut events = std::pin::pin!(events);
        loop {
            let event = tokio::select! {
                event = events.next() => event,
                () = tokio::time::sleep(TICK), if matches!(view, View::Live { .. }) => {
                    if let View::Live { table, drawn } = view {
                        redraw(table, drawn, style)?;
                    }
                    continue;
                }
            };
            match event {
                None => return Ok(End::InTime),
                Some(Ok(WatchEvent::Error(status))) if status.code == 410 => {
                    return Ok(End::Forgotten);
                }
                Some(Ok(event)) => self.show(view, event, style)?,
                Some(Err(error)) => return Err(self.cluster.failed(&error)),
            }
        }
    }

    fn told_whole(&self, object: Value, form: Form) -> Result<(), Failure> {
        if form == Form::Yaml {
            output::say("---")?;
        }
        written(object, form, self.arguments.show_managed_fields)
    }

    fn show(&self, view: &mut View, event: WatchEvent<Value>, style: Style) -> Result<(), Failure> {
        let (told, is_gone) = match event {
            WatchEvent::Added(told) | WatchEvent::Modified(told) => (told, false),
            WatchEvent::Deleted(told) => (told, true),
            // Nobody asked for any.
            WatchEvent::Bookmark(_) => return Ok(()),
            WatchEvent::Error(status) => return Err(Failure::new(status.message)),
        };
        let object = told["rows"][0].get("object").unwrap_or(&told);
        view.note(fields::text(&object["metadata"], "resourceVersion"));
        if !self.names.is_empty() && !self.names.contains(&fields::name(object)) {
            return Ok(());
        }
        match view {
            View::Live { table, drawn } => {
                if is_gone {
                    table.remove(&told);
                } else {
                    table.take(&told);
                }
                redraw(table, drawn, style)
            }
            View::Lines(table) => {
                let is_first = table.is_empty();
                if is_first {
                    table.take(&told);
                    return output::write(table.text(style).as_bytes());
                }
                if is_gone {
                    // Its last state, so that its line can be told from the others.
                    table.remove(&told);
                    let line = table.news(&told, style);
                    table.remove(&told);
                    return output::say(&format!("{} (deleted)", line.trim_end()));
                }
                output::write(table.news(&told, style).as_bytes())
            }
            View::Whole(form, _) => self.told_whole(told, *form),
        }
    }
}

impl View {
    /// Remembers how far the watch has come.
    fn note(&mut self, revision: &str) {
        match self {
            Self::Live { table, .. } | Self::Lines(table) => table.note(revision),
            Self::Whole(_, known) if !revision.is_empty() => revision.clone_into(known),
            Self::Whole(..) => {}
        }
    }
}

/// Draws the table where it was; one that is higher than the terminal is drawn below what was there.
fn redraw(table: &mut Table, drawn: &mut usize, style: Style) -> Result<(), Failure> {
    let size = terminal::of_standard_output();
    let rows = size.map_or(24, |size| size.rows);
    let columns = size.map_or(80, |size| size.columns);
    let text = table.text(style);
    let mut frame = String::new();
    if *drawn > 0 && *drawn < rows {
        let _ = write!(frame, "\u{1b}[{drawn}A");
    }
    frame.push_str("\r\u{1b}[J");
    let is_wide = text.lines().any(|line| line.chars().count() > columns);
    // A line that wraps is two, so lines are left to the terminal to cut.
    if is_wide {
        frame.push_str("\u{1b}[?7l");
    }
    let most = rows.saturating_sub(2).max(1);
    let lines: Vec<&str> = text.lines().take(most).collect();
    for line in &lines {
        frame.push_str(line);
        frame.push('\n');
    }
    *drawn = lines.len();
    let left = table.height().saturating_sub(lines.len());
    if left > 0 {
        let _ = writeln!(frame, "… {left} more");
        *drawn += 1;
    }
    if is_wide {
        frame.push_str("\u{1b}[?7h");
    }
    output::write(frame.as_bytes())
}
