//! A shop: everybody with everybody, on all four sides.
//!
//! ```text
//!   project storefront: web  ── external; needs cart, and the world's mail by the gateway
//!   project orders:     cart ── visible to the organization; needs database, payments.example.com and a bank's range
//!                       database ── the project's own
//! ```

use quadrille_render::Renderer;
use serde_json::{Value, json};

use crate::{
    given::{component, document, platform},
    world::{ENVIRONMENT, Party, Port, World},
};

#[derive(Clone, Copy, Debug)]
struct Asked {
    cilium: bool,
    enforced: bool,
    /// Whether cart names a host; standard policies cannot say that.
    host: bool,
}

fn shop(asked: Asked) -> Vec<Value> {
    let egress = if asked.enforced { "enforce" } else { "open" };
    let egress = json!({ "openchoreo.dev/cell-egress": egress });
    let mut documents = platform(asked.cilium);
    for project in ["storefront", "orders"] {
        let spec = json!({ "deploymentPipelineRef": "default" });
        documents.push(document("Project", project, &egress, &spec));
    }
    let mut outside = vec![json!({ "cidr": "203.0.113.0/24", "ports": [{ "port": 5432 }] })];
    if asked.host {
        outside.push(json!({ "host": "payments.example.com", "ports": [{ "port": 443 }] }));
    }
    let needs = |project: &str, component: &str, name: &str, visibility: &str| {
        json!({
            "project": project, "component": component, "name": name, "visibility": visibility,
            "envBindings": { "address": format!("{}_URL", component.to_uppercase()) },
        })
    };
    documents.extend(component(
        "storefront",
        "web",
        &json!({ "http": { "type": "HTTP", "port": 80, "targetPort": 3000, "visibility": ["external"] } }),
        &json!({ "endpoints": [
            needs("orders", "cart", "http", "namespace"),
            json!({
                "namespace": "other", "component": "mail", "name": "http", "visibility": "external",
                "envBindings": { "address": "MAIL_URL" }, "optional": true,
            }),
        ]}),
    ));
    documents.extend(component(
        "orders",
        "cart",
        &json!({
            "http": { "type": "HTTP", "port": 80, "targetPort": 8080, "visibility": ["namespace"] },
            "admin": { "type": "HTTP", "port": 9000 },
        }),
        &json!({ "endpoints": [needs("orders", "database", "sql", "project")], "external": outside }),
    ));
    documents.extend(component(
        "orders",
        "database",
        &json!({ "sql": { "type": "TCP", "port": 5432 } }),
        &json!({}),
    ));
    documents
}

/// Who is there, beside the components.
fn parties(world: &mut World) -> Vec<(&'static str, Party)> {
    let cell = |organization: &'static str, environment: &'static str| {
        [
            ("openchoreo.dev/namespace", organization),
            ("openchoreo.dev/environment", environment),
        ]
    };
    let system = [("openchoreo.dev/system-component", "gateway")];
    let dns = [("k8s-app", "kube-dns")];
    vec![
        ("web", world.component("web")),
        ("cart", world.component("cart")),
        ("database", world.component("database")),
        // Somebody put a pod into the cell of orders that is no component's.
        ("stray", world.beside("cart")),
        ("gateway", world.stranger("gateways", &[], &system)),
        ("dns", world.stranger("kube-system", &[], &dns)),
        // Another organization, and the same one in another environment.
        (
            "rival",
            world.stranger("dp-rival", &cell("rival", ENVIRONMENT), &[]),
        ),
        (
            "staging",
            world.stranger("dp-staging", &cell("acme", "staging"), &[]),
        ),
        (
            "payments",
            Party::outside(Some("payments.example.com"), "198.51.100.7"),
        ),
        ("bank", Party::outside(None, "203.0.113.9")),
        ("internet", Party::outside(Some("example.com"), "192.0.2.1")),
    ]
}

/// The doors that are tried: whose, and which port. 7777 is nobody's.
const DOORS: [(&str, i32, &str); 18] = [
    ("web", 3000, "TCP"),
    ("web", 80, "TCP"),
    ("cart", 8080, "TCP"),
    ("cart", 8080, "UDP"),
    ("cart", 9000, "TCP"),
    ("cart", 80, "TCP"),
    ("database", 5432, "TCP"),
    ("database", 7777, "TCP"),
    ("stray", 7777, "TCP"),
    ("gateway", 8443, "TCP"),
    ("dns", 53, "UDP"),
    ("dns", 53, "TCP"),
    ("dns", 9153, "TCP"),
    ("rival", 7777, "TCP"),
    ("payments", 443, "TCP"),
    ("payments", 7777, "TCP"),
    ("bank", 5432, "TCP"),
    ("internet", 443, "TCP"),
];

/// One line for each door: who gets through it.
fn table(asked: Asked) -> String {
    let mut world = World::render(&Renderer::new(), shop(asked)).unwrap();
    let parties = parties(&mut world);
    let mut lines = String::new();
    for (whose, number, transport) in DOORS {
        let port = Port { number, transport };
        let to = &parties.iter().find(|(name, _)| *name == whose).unwrap().1;
        let through: Vec<&str> = parties
            .iter()
            // What goes on outside is none of our business.
            .filter(|(_, from)| matches!(from, Party::Pod(_)) || matches!(to, Party::Pod(_)))
            .filter(|(_, from)| world.allows(from, to, port))
            .map(|(name, _)| *name)
            .collect();
        let line = format!("{whose} {number}/{transport}: {}", through.join(" "));
        lines.push_str(line.trim_end());
        lines.push('\n');
    }
    lines
}

/// North and west: who gets in, the same whatever goes out.
const COMPONENTS_OPEN: &str = "\
web 3000/TCP: web gateway
web 80/TCP:
cart 8080/TCP: web cart database stray
cart 8080/UDP:
cart 9000/TCP: cart database stray
cart 80/TCP:
database 5432/TCP: cart database stray
database 7777/TCP:
stray 7777/TCP:
";

#[test]
fn a_shop_with_open_egress_is_closed_to_everybody_to_whom_it_is_not_visible() {
    let everybody = "web cart database stray gateway dns rival staging payments bank internet";
    let pods = "web cart database stray gateway dns rival staging";
    let beyond = [
        "gateway 8443/TCP",
        "dns 53/UDP",
        "dns 53/TCP",
        "dns 9153/TCP",
        "rival 7777/TCP",
    ];
    let outside = [
        "payments 443/TCP",
        "payments 7777/TCP",
        "bank 5432/TCP",
        "internet 443/TCP",
    ];
    let lines = |doors: &[&str], through: &str| -> String {
        let lines = doors.iter();
        lines
            .map(|door| [door, ": ", through, "\n"].concat())
            .collect()
    };
    let expected = [
        COMPONENTS_OPEN,
        &lines(&beyond, everybody),
        &lines(&outside, pods),
    ]
    .concat();
    for cilium in [false, true] {
        let asked = Asked {
            cilium,
            enforced: false,
            host: true,
        };
        assert_eq!(table(asked), expected, "{asked:?}");
    }
}

#[test]
fn a_shop_with_enforced_egress_reaches_what_it_declared_and_nothing_else() {
    // Nobody but cart gets to the bank and to payments; web gets to the gateway for its mail; everybody to names.
    let others = "gateway dns rival staging";
    let expected = |to_payments: &str| {
        format!(
            "\
{COMPONENTS_OPEN}\
gateway 8443/TCP: web {others} payments bank internet
dns 53/UDP: web cart database stray {others} payments bank internet
dns 53/TCP: web cart database stray {others} payments bank internet
dns 9153/TCP: {others} payments bank internet
rival 7777/TCP: {others} payments bank internet
payments 443/TCP: {to_payments}{others}
payments 7777/TCP: {others}
bank 5432/TCP: cart {others}
internet 443/TCP: {others}
"
        )
    };
    for (cilium, host, to_payments) in
        [(true, true, "cart "), (true, false, ""), (false, false, "")]
    {
        let asked = Asked {
            cilium,
            enforced: true,
            host,
        };
        assert_eq!(table(asked), expected(to_payments), "{asked:?}");
    }
}

#[test]
fn a_host_that_standard_policies_cannot_name_is_refused_with_a_remedy_and_opens_nothing() {
    let asked = Asked {
        cilium: false,
        enforced: true,
        host: true,
    };
    assert_eq!(
        World::render(&Renderer::new(), shop(asked)).unwrap_err(),
        "Component cart: component release: spec.workload.dependencies.external[1].host: is \"payments.example.com\", \
         but egress is enforced by standard network policies, which know addresses only: give cidr instead, or use a \
         data plane with Cilium (annotation openchoreo.dev/networkpolicyprovider: cilium)"
    );
}
