//! `quad user add`: a certificate that says who, a binding that says what they may, a kubeconfig with both.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use jiff::Timestamp;
use quadrille_apiserver::{
    auth::User,
    serve::{Authority, kubeconfig},
};
use quadrille_controllers::permissions::people::{ROLES, Role};
use serde_json::json;

use super::team::{Member, Team};
use crate::{
    arguments::{Output, TEMPLATE},
    data_folder::pasted,
    failure::Failure,
    kubeconfig::Place,
    output,
    style::Style,
};

/// Give somebody a role and a kubeconfig.
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Examples:\n  quad user add anna --role developer                        of the organization default\n  quad user add eve --role approver --organization shop      of another one",
    help_template = TEMPLATE
)]
pub(super) struct Arguments {
    /// Who: lower-case letters, digits, dots and dashes.
    name: String,
    /// What they are.
    #[arg(long, value_parser = PossibleValuesParser::new(ROLES.iter().map(|role| role.name)))]
    role: String,
    /// Of which organization; a platform-admin is of none [default: default].
    #[arg(long, value_name = "NAME")]
    organization: Option<String>,
    /// Write the kubeconfig to this file instead of the instance's folder.
    #[arg(long, value_name = "FILE")]
    kubeconfig_out: Option<PathBuf>,
    /// The folder of the instance [default: quadrille/default in the state folder].
    #[arg(long, value_name = "FOLDER")]
    data_dir: Option<PathBuf>,
    /// For whom to write.
    #[arg(short, long, value_enum, default_value_t)]
    output: Output,
}

pub(super) async fn run(arguments: &Arguments) -> Result<(), Failure> {
    check_name(&arguments.name)?;
    let role = Role::named(&arguments.role)
        .ok_or_else(|| Failure::new(format!("there is no role {}", arguments.role)))?;
    let member = member(arguments, role)?;
    let place = arguments
        .kubeconfig_out
        .as_deref()
        .map(Place::check)
        .transpose()?;
    let team = Team::of(arguments.data_dir.as_deref()).await?;
    let place = place.unwrap_or_else(|| Place::own(team.kubeconfig(&member.name)));
    let text = credentials(&team, &member)?;
    team.bind(&member, role).await?;
    place.write(&text)?;
    say(arguments.output, &member, &place)
}

/// A name that can stand in names of objects and files, and that is none of Kubernetes' own.
fn check_name(name: &str) -> Result<(), Failure> {
    let is_sound = !name.is_empty()
        && name.len() <= 40
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c))
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.ends_with(|c: char| c.is_ascii_alphanumeric())
        && !name.contains("..");
    if is_sound {
        return Ok(());
    }
    Err(Failure::new(format!("{name:?} cannot be the name of a user"))
        .next("Use lower-case letters, digits, dots and dashes, 40 at most: quad user add anna --role developer"))
}

fn member(arguments: &Arguments, role: &Role) -> Result<Member, Failure> {
    let given = arguments.organization.as_deref();
    if !role.is_local && given.is_some() {
        let role = role.name;
        return Err(
            Failure::new(format!("a {role} is of no organization: it is one for all")).next(
                format!(
                    "Leave it out: quad user add {} --role {role}",
                    arguments.name
                ),
            ),
        );
    }
    let organization = if role.is_local {
        given.unwrap_or("default")
    } else {
        ""
    };
    Ok(Member {
        name: arguments.name.clone(),
        role: role.name.to_owned(),
        organization: organization.to_owned(),
    })
}

/// A kubeconfig with a certificate of the instance's own authority.
fn credentials(team: &Team, member: &Member) -> Result<String, Failure> {
    let keys = team.folder.keys();
    if !keys.join("ca.key").exists() {
        return Err(
            Failure::new("this instance keeps no keys, so it can make no users")
                .next("Start one that does: quad up, without --ephemeral"),
        );
    }
    let unusable = |error: &(dyn std::error::Error + 'static)| {
        Failure::new("no client certificate can be made")
            .because(error)
            .next(format!("Look at the keys: ls -l {}", pasted(&keys)))
    };
    let now = Timestamp::now();
    let authority = Authority::open(&keys, now).map_err(|error| unusable(&error))?;
    let user = User {
        name: member.name.clone(),
        ..User::default()
    };
    let identity = authority
        .issue_client(&user, now)
        .map_err(|error| unusable(&error))?;
    let context = kubeconfig::Context {
        user: Some(&member.name),
        namespace: Some(&member.organization)
            .filter(|name| !name.is_empty())
            .map(String::as_str),
    };
    Ok(context.render(&team.address, authority.certificate(), &identity))
}

fn say(output: Output, member: &Member, place: &Place) -> Result<(), Failure> {
    let Member {
        name,
        role,
        organization,
    } = member;
    if output == Output::Json {
        let facts = json!({
            "name": name,
            "role": role,
            "organization": organization,
            "kubeconfig": place.path(),
        });
        return output::say(&facts.to_string());
    }
    let style = Style::of_standard_output();
    let tick = style.green("✔");
    let of = if organization.is_empty() {
        String::new()
    } else {
        format!(" of {organization}")
    };
    let article = if role.starts_with('a') { "an" } else { "a" };
    let export = style.bold(&format!("export KUBECONFIG={}", pasted(place.path())));
    output::say(&format!(
        "{tick} {name} is {article} {role}{of}\n\nNext:  {export}\n       kubectl auth whoami\n       kubectl auth can-i --list"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain() {
        for good in ["anna", "a", "anna-2", "anna.b"] {
            check_name(good).unwrap();
        }
        for bad in [
            "",
            "Anna",
            "system:admin",
            "-a",
            "a..b",
            "../a",
            "a/b",
            "a b",
        ] {
            check_name(bad).unwrap_err();
        }
    }
}
