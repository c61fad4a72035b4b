//! A call on whichever translation layer a drive has, with static dispatch within each arm.

macro_rules! each {
    ($self:expr, $engine:ident => $do:expr) => {
        match &*$self.kind {
            Kind::Lean($engine) => $do,
            Kind::Full($engine) => $do,
            Kind::Block($engine) => $do,
        }
    };
}

macro_rules! each_mut {
    ($self:expr, $engine:ident => $do:expr) => {
        match &mut *$self.kind {
            Kind::Lean($engine) => $do,
            Kind::Full($engine) => $do,
            Kind::Block($engine) => $do,
        }
    };
}

/// The kind that a configuration asks for, around `$make` with its translation layer.
macro_rules! kind_of {
    ($config:expr, $make:expr) => {
        match KindOf::of($config) {
            KindOf::Lean => Kind::Lean($make),
            KindOf::Full => Kind::Full($make),
            KindOf::Block => Kind::Block($make),
        }
    };
}
