//! What is to become of what a binding released.

use crate::words::written_words;

written_words! {
    /// What is to become of what a binding released.
    #[derive(Default)]
    ReleaseState {
        /// It runs.
        #[default]
        Active = "Active",
        /// It stays, and nothing of it runs.
        Suspend = "Suspend",
        /// It is taken away.
        Undeploy = "Undeploy",
    }
}
