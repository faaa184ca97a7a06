//! Clients by their credentials.

use std::sync::Arc;

use quadrille_planes::{Access, Planes, Proof, Way};
use quadrille_testkit::Cluster;
use quadrille_types::data_plane::Sensitive;

use crate::reach;

#[tokio::test]
async fn the_same_access_is_the_same_client_as_long_as_it_is_held() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let planes = Planes::new(cluster.client());
    let access = reach::as_admin(&cluster).await?;
    let one = planes.get_or_connect(&access)?;
    let two = planes.get(&Way::Remote(access.clone()))?;
    assert!(Arc::ptr_eq(&one, &two));
    assert_eq!(planes.held(), 1);
    one.client().apiserver_version().await?;

    let rotated = Access {
        proof: Proof::Token(Sensitive::new("another")),
        ..access
    };
    let three = planes.get_or_connect(&rotated)?;
    assert!(!Arc::ptr_eq(&one, &three));
    assert_eq!(planes.held(), 2);
    drop((one, two));
    assert_eq!(planes.held(), 1);
    drop(three);
    assert_eq!(planes.held(), 0);
    Ok(())
}

#[tokio::test]
async fn the_local_way_leads_to_the_client_that_was_handed_in() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let planes = Planes::new(cluster.client());
    let local = planes.get(&Way::Local)?;
    assert!(Arc::ptr_eq(&local, &planes.local()));
    cluster.wire().forget();
    local.client().apiserver_version().await?;
    assert_eq!(cluster.wire().calls().len(), 1);
    assert_eq!(planes.held(), 0);
    Ok(())
}
