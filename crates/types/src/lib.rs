//! The shape of every `openchoreo.dev` kind.
