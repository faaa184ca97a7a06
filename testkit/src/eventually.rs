//! Waiting for a condition with a deadline. A test never sleeps to let something happen.

use std::{
    fmt::{Debug, Display},
    time::Duration,
};

use kube::{Api, runtime::wait};
use serde::{Serialize, de::DeserializeOwned};
use tokio::time::Instant;

/// Long enough for a busy machine; nothing is measured by it.
pub const DEADLINE: Duration = Duration::from_mins(3);

/// Asks again and again until the answer is `Ok`; when [`DEADLINE`] passes, panics with the last `Err`.
///
/// ```no_run
/// # async fn example(api: kube::Api<k8s_openapi::api::core::v1::ConfigMap>) {
/// let config = quadrille_testkit::eventually("the config appears", async || {
///     api.get("config").await
/// })
/// .await;
/// # }
/// ```
pub async fn eventually<T, E: Display>(
    what: &str,
    condition: impl AsyncFnMut() -> Result<T, E>,
) -> T {
    within(DEADLINE, what, condition).await
}

#[expect(clippy::panic, reason = "a failed wait fails the test that waits")]
async fn within<T, E: Display>(
    deadline: Duration,
    what: &str,
    mut condition: impl AsyncFnMut() -> Result<T, E>,
) -> T {
    let deadline = Instant::now() + deadline;
    let mut pause = Duration::from_millis(1);
    loop {
        match condition().await {
            Ok(value) => return value,
            Err(state) if Instant::now() > deadline => {
                panic!("waited in vain until {what}; last: {state}")
            }
            Err(_) => tokio::time::sleep(pause).await,
        }
        pause = (pause * 2).min(Duration::from_millis(100));
    }
}

/// Watches one object until `condition` holds (it gets `None` while there is no such object); when [`DEADLINE`]
/// passes, panics with the object as it is then.
#[expect(clippy::panic, reason = "a failed wait fails the test that waits")]
pub async fn eventually_object<K>(
    api: &Api<K>,
    name: &str,
    what: &str,
    condition: impl Fn(Option<&K>) -> bool,
) -> Option<K>
where
    K: Clone + Debug + Serialize + DeserializeOwned + kube::Resource + Send + 'static,
{
    let waited = wait::await_condition(api.clone(), name, condition);
    match tokio::time::timeout(DEADLINE, waited).await {
        Ok(Ok(object)) => object,
        Ok(Err(error)) => panic!("waited until {what}, and the watch failed: {error}"),
        Err(_) => {
            let last = match api.get_opt(name).await {
                Ok(Some(object)) => serde_json::to_string_pretty(&object)
                    .unwrap_or_else(|error| format!("{object:?} ({error})")),
                Ok(None) => "there is no such object".to_owned(),
                Err(error) => error.to_string(),
            };
            panic!("waited in vain until {what}; last: {last}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_condition_is_asked_until_it_holds() {
        let mut asked = 0;
        let answer = eventually("it was asked thrice", async || {
            asked += 1;
            if asked == 3 { Ok(asked) } else { Err(asked) }
        })
        .await;
        assert_eq!(answer, 3);
    }

    #[tokio::test]
    #[should_panic(expected = "waited in vain until pigs fly; last: no wings")]
    async fn the_last_state_is_told_when_the_deadline_passes() {
        within::<(), _>(Duration::ZERO, "pigs fly", async || Err("no wings")).await;
    }
}
