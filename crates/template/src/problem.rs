//! What is wrong with something that was written: all of it at once, each with its place.

use std::fmt;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where: `spec.resources[0].template.spec.replicas`.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it, if that can be said.
    pub remedy: Option<String>,
}

impl Problem {
    /// A problem without a remedy.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            message: message.into(),
            remedy: None,
        }
    }

    /// With what to do about it.
    #[must_use]
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(out, "{}: ", self.path)?;
        }
        out.write_str(&self.message)?;
        match &self.remedy {
            Some(remedy) => write!(out, "; {remedy}"),
            None => Ok(()),
        }
    }
}

/// More are kept, but not written out.
const MOST_SHOWN: usize = 100;

/// Everything that is wrong, in the order in which it was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

impl Problems {
    /// Nothing if there are none, else all of them.
    pub fn into_result<T>(self, value: T) -> Result<T, Self> {
        if self.0.is_empty() {
            Ok(value)
        } else {
            Err(self)
        }
    }

    pub(crate) fn push(&mut self, problem: Problem) {
        self.0.push(problem);
    }

    /// The value, or nothing with its problems noted here.
    pub(crate) fn take<T>(&mut self, outcome: Result<T, Self>) -> Option<T> {
        outcome.map_err(|more| self.0.extend(more.0)).ok()
    }

    /// One line: problems joined by `; `, as many as a person would read.
    pub fn one_line(&self) -> String {
        self.joined("; ")
    }

    fn joined(&self, between: &str) -> String {
        let shown = self.0.iter().take(MOST_SHOWN).map(ToString::to_string);
        let mut shown: Vec<String> = shown.collect();
        if let Some(more) = self
            .0
            .len()
            .checked_sub(MOST_SHOWN)
            .filter(|more| *more > 0)
        {
            shown.push(format!("… and {more} more"));
        }
        shown.join(between)
    }
}

impl fmt::Display for Problems {
    /// One problem a line.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.joined("\n"))
    }
}

impl std::error::Error for Problems {}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        Self(vec![problem])
    }
}

impl IntoIterator for Problems {
    type Item = Problem;
    type IntoIter = std::vec::IntoIter<Problem>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// Longer names have no nearest one.
const LONGEST_NAME: usize = 64;

/// The known name nearest to one that is not known, if it is near at all.
pub(crate) fn nearest<'n>(
    wanted: &str,
    known: impl IntoIterator<Item = &'n str>,
) -> Option<&'n str> {
    // Comparing takes room for both lengths; nobody mistypes a name that long.
    if wanted.len() > LONGEST_NAME {
        return None;
    }
    let far = wanted.chars().count().div_ceil(3).max(1);
    known
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(wanted, name), name))
        .filter(|(distance, _)| *distance <= far)
        .min()
        .map(|(_, name)| name)
}

/// A remedy for a name that is not known: the nearest one, or all there are if they are few.
pub(crate) fn suggest<'n>(
    wanted: &str,
    known: impl IntoIterator<Item = &'n str> + Clone,
) -> Option<String> {
    if let Some(name) = nearest(wanted, known.clone()) {
        return Some(format!("did you mean `{name}`?"));
    }
    let mut all: Vec<&str> = known.into_iter().collect();
    all.sort_unstable();
    let few = (1..=20).contains(&all.len());
    few.then(|| format!("known here: {}", all.join(", ")))
}
