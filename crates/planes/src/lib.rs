//! Who can we talk to: credentials, clients, limits and watches of planes.
