//! The server: state, start and stop, and the way of a request from URL to verb.

use std::{borrow::Cow, collections::BTreeSet, fmt, iter, sync::Arc};

use axum::{Router, body::Body, extract::State, response::Response};
use bytes::Bytes;
use http::Request as HttpRequest;
use parking_lot::{Mutex, RwLock};
use quadrille_machinery::status::Status;
use quadrille_store::{ReadError, Store};
use serde_json::Value;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    accept::{self, Endpoint},
    auth::{
        self, Authenticator, Authorizer, LookUp, Rbac, User, action::Action,
        impersonate::Impersonation, service_account::ServiceAccountKey,
    },
    catalog::LiveCatalog,
    clock::{Clock, SystemClock},
    finding, kinds, life,
    options::Query,
    path::{Path, Target},
    policies::Policies,
    protobuf, reply,
    rest::{self, Request},
    services::Services,
    upload,
};

/// Texts of definitions. They are many and large, and each is asked for when the one before it is done with.
pub type Definitions = Box<dyn Iterator<Item = Cow<'static, str>> + Send>;

/// What a server is made of.
pub struct Options {
    /// Where objects live.
    pub store: Store,
    /// Custom resource definitions to install at start, each a JSON document. A new one is stored as it is given and
    /// served, without a look at its schemas: it must be valid, and complete, as
    /// [`completed`](quadrille_machinery::crd::completed) makes it. Others are for clients to create.
    pub definitions: Definitions,
    /// Objects of the whole cluster to apply at start, after the definitions.
    pub objects: Vec<Value>,
    /// Where the time comes from.
    pub clock: Arc<dyn Clock>,
    /// Signs tokens of service accounts.
    pub service_account_key: Arc<ServiceAccountKey>,
    /// The certificate of the authority that signed the server's certificate, as PEM.
    pub root_ca: String,
    /// Whether the server also does what a controller manager does for every cluster: default service
    /// accounts, root CA config maps, the end of namespaces, garbage collection.
    pub housekeeping: bool,
}

impl Options {
    /// Options with defaults for everything but the store.
    pub fn new(store: Store) -> Result<Self, StartError> {
        Ok(Self {
            store,
            definitions: Box::new(iter::empty()),
            objects: Vec::new(),
            clock: Arc::new(SystemClock),
            service_account_key: Arc::new(ServiceAccountKey::generate()?),
            root_ca: String::new(),
            housekeeping: true,
        })
    }
}

/// Why a server did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// No key for tokens.
    #[error("make a key for service account tokens")]
    Key(#[from] auth::service_account::TokenError),
    /// The store can't be read.
    #[error("read the store")]
    Read(#[from] ReadError),
    /// An object that every cluster has could not be written.
    #[error("write {what}: {status}")]
    Bootstrap {
        /// Which object.
        what: String,
        /// Why not.
        status: Status,
    },
}

/// Everything that requests share.
pub(crate) struct Shared {
    pub(crate) store: Store,
    pub(crate) catalog: LiveCatalog,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) authorizer: Arc<Rbac>,
    pub(crate) impersonation: Impersonation,
    pub(crate) service_account_key: Arc<ServiceAccountKey>,
    pub(crate) authenticator: Arc<Authenticator>,
    pub(crate) root_ca: String,
    pub(crate) services: Services,
    pub(crate) policies: Policies,
    pub(crate) shutdown: CancellationToken,
    pub(crate) documents: finding::Documents,
    /// One change of a definition at a time: names are accepted in order.
    pub(crate) definitions: tokio::sync::Mutex<()>,
    /// Where clients reach the server: `host:port`, as discovery tells them.
    pub(crate) address: RwLock<String>,
    /// Whether the server does what a controller manager does for every cluster.
    pub(crate) housekeeping: bool,
    /// Uids of the namespaces and definitions that are being emptied.
    pub(crate) ending: Mutex<BTreeSet<String>>,
    /// Housekeeping and writes that must end before the server has stopped.
    pub(crate) tasks: TaskTracker,
}

impl fmt::Debug for Shared {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Shared")
            .field("catalog", &self.catalog)
            .finish_non_exhaustive()
    }
}

/// A running API server. Cheap to clone; stops when [`Server::stop`] is called.
#[derive(Clone, Debug)]
pub struct Server {
    pub(crate) shared: Arc<Shared>,
}

impl Server {
    /// Starts a server: reads definitions, writes what every cluster has, begins its housekeeping.
    pub async fn start(options: Options) -> Result<Self, StartError> {
        let services = Services::load(&options.store)?;
        let key = options.service_account_key;
        let bindings = LookUp::new(options.store.clone(), options.clock.clone());
        let authenticator =
            Authenticator::new().with_service_accounts(key.clone(), Arc::new(bindings));
        let shared = Arc::new(Shared {
            catalog: LiveCatalog::new(kinds::load().resources.clone()),
            services,
            policies: Policies::default(),
            authorizer: Arc::new(Rbac::new(options.store.clone())),
            impersonation: Impersonation::default(),
            store: options.store,
            clock: options.clock,
            service_account_key: key,
            authenticator: Arc::new(authenticator),
            root_ca: options.root_ca,
            shutdown: CancellationToken::new(),
            documents: finding::Documents::default(),
            definitions: tokio::sync::Mutex::new(()),
            address: RwLock::new(String::new()),
            housekeeping: options.housekeeping,
            ending: Mutex::new(BTreeSet::new()),
            tasks: TaskTracker::new(),
        });
        let server = Self { shared };
        server.shared.refresh_catalog();
        life::bootstrap::run(&server.shared, options.housekeeping).await?;
        life::bootstrap::definitions::install(&server.shared, options.definitions).await?;
        life::bootstrap::apply_all(&server.shared, &options.objects).await?;
        life::definitions::resume(&server.shared)
            .await
            .map_err(|status| StartError::Bootstrap {
                what: "definitions that were left half done".to_owned(),
                status,
            })?;
        if options.housekeeping {
            life::start(&server.shared);
        }
        Ok(server)
    }

    /// The API as a router. Requests carry a [`User`] in their extensions; those without one are from nobody in
    /// particular ([`User::anonymous`]).
    pub fn router(&self) -> Router {
        Router::new()
            .fallback(handle)
            .with_state(self.shared.clone())
    }

    /// The API as a router on which everybody is `user`: for clients in the same process.
    pub fn router_as(&self, user: &User) -> Router {
        self.router().layer(axum::Extension(user.clone()))
    }

    /// Tells watches and housekeeping to end, and waits for neither.
    pub fn begin_stop(&self) {
        self.shared.shutdown.cancel();
    }

    /// Ends watches and housekeeping, and waits for the latter and for writes that were begun. The store stays open: whoever opened it
    /// closes it.
    pub async fn stop(&self) {
        self.begin_stop();
        self.shared.tasks.close();
        self.shared.tasks.wait().await;
    }

    /// Tells where clients reach the server (`host:port`), for discovery to pass on.
    pub fn set_address(&self, address: &str) {
        address.clone_into(&mut self.shared.address.write());
    }

    /// Who accepts the tokens of this server's service accounts, for what stands in front of the router.
    pub fn authenticator(&self) -> Arc<Authenticator> {
        self.shared.authenticator.clone()
    }

    /// Who decides what users may do, for what stands in front of the router.
    pub fn authorizer(&self) -> Arc<dyn Authorizer> {
        self.shared.authorizer.clone()
    }

    /// Where the server keeps its objects.
    pub fn store(&self) -> &Store {
        &self.shared.store
    }
}

/// One request, from URL to answer.
async fn handle(State(shared): State<Arc<Shared>>, request: HttpRequest<Body>) -> Response {
    let path = Path::parse(request.uri().path());
    let query = Query::parse(request.uri().query());
    let action = Action::of(request.method(), &path, request.uri().path(), &query);
    let user = match allowed(&shared, &request, &action) {
        Ok(user) => user,
        Err(status) => {
            if request.extensions().get::<User>().is_some() {
                upload::pass_over(request.into_body()).await;
            }
            return reply::status(&status);
        }
    };
    if finding::is_document(&path) && request.method() != http::Method::GET {
        return reply::status(&not_allowed());
    }
    match path {
        Path::Resource(target) => resource(shared, user, target, query, request).await,
        other => finding::answer(&shared, &other, &query, request.headers()),
    }
}

/// Who a request is from, if they may do what they want.
fn allowed(shared: &Shared, request: &HttpRequest<Body>, action: &Action) -> Result<User, Status> {
    let authorizer = shared.authorizer.as_ref();
    let sender = request.extensions().get::<User>().cloned();
    let sender = sender.unwrap_or_else(User::anonymous);
    let impersonation = &shared.impersonation;
    let user = impersonation.user(sender, request.headers(), action, authorizer)?;
    authorizer.require(&action.by(&user))?;
    Ok(user)
}

/// A request for a resource.
async fn resource(
    shared: Arc<Shared>,
    user: User,
    mut target: Target,
    query: Query,
    request: HttpRequest<Body>,
) -> Response {
    let (mut head, body) = request.into_parts();
    let asks_to_watch = query.switch("watch").unwrap_or(false);
    let Some(verb) = rest::verb(&head.method, &target, asks_to_watch) else {
        let catalog = shared.catalog.snapshot();
        let known = catalog.find(&target.group, &target.version, &target.plural);
        return match known {
            Some(resource)
                if (target.namespace.is_some() && !resource.namespaced)
                    || (target.watch && target.subresource.is_some()) =>
            {
                finding::page_not_found(resource, &target)
            }
            _ => reply::status(&not_allowed()),
        };
    };
    // Questions have none, whatever they say. A slow one may outlive what is served, so that is looked up after it.
    let body = match verb {
        "get" | "list" | "watch" => Ok(Bytes::new()),
        _ => upload::read(body).await,
    };
    let catalog = shared.catalog.snapshot();
    let Some(resource) = catalog
        .find(&target.group, &target.version, &target.plural)
        .cloned()
    else {
        return finding::unknown_resource(&catalog, &target);
    };
    if let Err(response) = check_scope(&resource, &mut target, verb) {
        return response;
    }
    if let Some(status) = check_path_name(&target) {
        return reply::status(&status);
    }
    let body = match body.and_then(|body| protobuf::rewritten(&mut head.headers, body)) {
        Ok(body) => body,
        Err(status) => return reply::status(&status),
    };
    let endpoint = if rest::is_review(&resource) {
        Endpoint::Review
    } else {
        Endpoint::of(resource.is_built_in(), verb)
    };
    let form = match accept::form(&head.headers, endpoint) {
        Ok(form) => form,
        Err(status) => return reply::status(&status),
    };
    let request = Request {
        shared,
        user,
        resource,
        target,
        query,
        headers: head.headers,
        form,
        body,
        warnings: Arc::default(),
        notes: Arc::default(),
        one_of_many: false,
        own: false,
    };
    let wants_yaml = accept::prefers_yaml(&request.headers);
    let response = if matches!(verb, "get" | "list" | "watch") {
        rest::handle(&request, verb).await
    } else {
        to_its_end(request, verb).await
    };
    let is_stream = verb == "watch" && response.status().is_success();
    if wants_yaml && !is_stream {
        return reply::in_yaml(response).await;
    }
    response
}

/// Does what a write asks for, also when the client does not wait for it: what follows a commit (definitions are served,
/// addresses are kept or given back) must not be left out.
async fn to_its_end(request: Request, verb: &'static str) -> Response {
    let tasks = request.shared.tasks.clone();
    let work = async move { rest::handle(&request, verb).await };
    match tasks.spawn(work).await {
        Ok(response) => response,
        Err(ended) if ended.is_panic() => std::panic::resume_unwind(ended.into_panic()),
        Err(_) => reply::status(&Status::unavailable("the server is stopping")),
    }
}

/// Names that no path may have.
fn check_path_name(target: &Target) -> Option<Status> {
    let name = target
        .name
        .as_deref()
        .filter(|name| matches!(*name, "." | ".."))?;
    let message = format!("Name parameter invalid: {name:?}: may not be '{name}'");
    Some(Status::bad_request(message))
}

/// Whether the resource has the verb, and the path the scope that the verb needs.
fn check_scope(
    resource: &crate::resource::Resource,
    target: &mut Target,
    verb: &str,
) -> Result<(), Response> {
    if target.namespace.is_some() && !resource.namespaced {
        return Err(finding::page_not_found(resource, target));
    }
    let needs_namespace = resource.namespaced && target.namespace.is_none();
    if needs_namespace && target.name.is_some() {
        return Err(finding::page_not_found(resource, target));
    }
    let verbs = match &target.subresource {
        None => &resource.verbs,
        Some(name) => match resource.subresource(name) {
            Some(subresource) => &subresource.verbs,
            None => return Err(finding::page_not_found(resource, target)),
        },
    };
    let virtual_kind = verbs.iter().all(|verb| verb == "create");
    if needs_namespace && matches!(verb, "create" | "deletecollection") && !virtual_kind {
        if !resource.is_built_in() {
            return Err(finding::page());
        }
        return Err(reply::status(&not_allowed()));
    }
    if !verbs.iter().any(|known| known == verb) {
        return Err(reply::status(&not_allowed()));
    }
    Ok(())
}

/// 405: the path has no such method.
pub(crate) fn not_allowed() -> Status {
    Status {
        code: 405,
        reason: "MethodNotAllowed",
        message: "the server does not allow this method on the requested resource".to_owned(),
        details: serde_json::json!({}),
        list_continue: None,
    }
}
