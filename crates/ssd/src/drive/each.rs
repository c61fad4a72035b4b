//! A call on whichever translation layer a drive has, with static dispatch within each arm.

/// What runs a drive, by its translation layer.
#[derive(Clone, Debug)]
pub(super) enum ByLayer<L, F, B> {
    Lean(L),
    Full(F),
    Block(B),
}

macro_rules! each {
    ($self:expr, $engine:ident => $do:expr) => {
        match &*$self.kind {
            ByLayer::Lean($engine) => $do,
            ByLayer::Full($engine) => $do,
            ByLayer::Block($engine) => $do,
        }
    };
}

macro_rules! each_mut {
    ($self:expr, $engine:ident => $do:expr) => {
        match &mut *$self.kind {
            ByLayer::Lean($engine) => $do,
            ByLayer::Full($engine) => $do,
            ByLayer::Block($engine) => $do,
        }
    };
}

/// The kind that a configuration asks for, around `$make` with its translation layer.
macro_rules! kind_of {
    ($config:expr, $make:expr) => {
        match LayerKind::of($config) {
            LayerKind::Lean => ByLayer::Lean($make),
            LayerKind::Full => ByLayer::Full($make),
            LayerKind::Block => ByLayer::Block($make),
        }
    };
}
