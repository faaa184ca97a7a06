//! Certificates that don't do, and servers that speak only the older HTTP.

use quadrille_planes::{Access, Proof, Trouble, connect};
use quadrille_testkit::Cluster;
use quadrille_types::data_plane::Sensitive;

use crate::{
    reach,
    servers::{Authority, Server},
};

const VALID: i32 = 3000;
const OVER: i32 = 2001;

async fn trouble(access: &Access) -> anyhow::Result<Trouble> {
    let client = connect(access)?;
    let answer = client.apiserver_version().await;
    Ok(answer.unwrap_err().into())
}

fn token() -> Proof {
    Proof::Token(Sensitive::new("s3cr3t"))
}

#[tokio::test]
async fn a_server_of_another_authority_is_not_trusted() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let mut access = reach::as_admin(&cluster).await?;
    access.ca_pem = Authority::new()?.access(1, token())?.ca_pem;
    let trouble = trouble(&access).await?;
    assert_eq!(trouble.reason(), "CertificateUntrusted", "{trouble}");
    Ok(())
}

#[tokio::test]
async fn a_server_of_another_name_is_not_trusted_unless_that_name_is_given() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let mut access = reach::as_admin(&cluster).await?;
    access.server_name = Some("api.example.org".to_owned());
    let trouble = trouble(&access).await?;
    assert_eq!(trouble.reason(), "CertificateUntrusted", "{trouble}");
    access.server_name = Some("kubernetes.default.svc".to_owned());
    connect(&access)?.apiserver_version().await?;
    Ok(())
}

#[tokio::test]
async fn a_server_whose_certificate_is_over_is_said_to_be_so() -> anyhow::Result<()> {
    let authority = Authority::new()?;
    let server = Server {
        identity: authority.issue(OVER)?,
        clients: None,
        protocol: "h2",
    };
    let (port, _requests) = server.start().await?;
    let trouble = trouble(&authority.access(port, token())?).await?;
    assert_eq!(trouble.reason(), "CertificateExpired", "{trouble}");
    assert_eq!(trouble.message(), "the server's certificate has expired");
    Ok(())
}

#[tokio::test]
async fn a_server_that_does_not_take_our_certificate_says_why() -> anyhow::Result<()> {
    let (authority, other) = (Authority::new()?, Authority::new()?);
    for protocol in ["h2", "http/1.1"] {
        for (ours, reason) in [
            (authority.issue(OVER)?.proof(), "CertificateExpired"),
            (other.issue(VALID)?.proof(), "CertificateUntrusted"),
            (token(), "CertificateUntrusted"),
        ] {
            let server = Server {
                identity: authority.issue(VALID)?,
                clients: Some(&authority),
                protocol,
            };
            let (port, _requests) = server.start().await?;
            let trouble = trouble(&authority.access(port, ours)?).await?;
            assert_eq!(trouble.reason(), reason, "{protocol}: {trouble}");
            assert!(trouble.message().contains("our certificate"), "{trouble}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_server_without_http2_is_spoken_to_as_it_likes() -> anyhow::Result<()> {
    let authority = Authority::new()?;
    let server = Server {
        identity: authority.issue(VALID)?,
        clients: None,
        protocol: "http/1.1",
    };
    let (port, mut requests) = server.start().await?;
    let client = connect(&authority.access(port, token())?)?;
    for _ in 0..3 {
        assert_eq!(client.apiserver_version().await?.git_version, "v1.36.3");
    }
    let request = requests.recv().await.unwrap_or_default().to_lowercase();
    assert!(
        request.starts_with("get /clusters/one/version http/1.1\r\n"),
        "{request}"
    );
    assert!(
        request.contains("\r\nauthorization: bearer s3cr3t\r\n"),
        "{request}"
    );
    assert!(request.contains("\r\nuser-agent: quadrille/"), "{request}");
    Ok(())
}

#[tokio::test]
async fn a_key_that_is_not_the_certificates_makes_no_client() -> anyhow::Result<()> {
    let authority = Authority::new()?;
    let keys = [
        authority.issue(VALID)?.proof(),
        authority.issue(VALID)?.proof(),
    ];
    let [
        Proof::Certificate {
            certificate_pem, ..
        },
        Proof::Certificate { key_pem, .. },
    ] = keys
    else {
        anyhow::bail!("both are certificates");
    };
    let mixed = Proof::Certificate {
        certificate_pem,
        key_pem,
    };
    let error = connect(&authority.access(1, mixed)?).err().unwrap();
    assert_eq!(
        error.to_string(),
        "the client certificate of the plane cannot be used"
    );
    Ok(())
}
