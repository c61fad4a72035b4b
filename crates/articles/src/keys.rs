//! Names of measures and lines, as types: a misspelt one does not compile.

/// A measure or a line of an experiment.
pub(crate) trait ExperimentKey: Copy + Ord + 'static {
    /// Name in `published/` and in results.
    fn name(self) -> String;

    /// Every key of the type.
    fn all() -> Vec<Self>;
}

impl<A: ExperimentKey, B: ExperimentKey> ExperimentKey for (A, B) {
    fn name(self) -> String {
        format!("{}_{}", self.0.name(), self.1.name())
    }

    fn all() -> Vec<Self> {
        let with = |a: A| B::all().into_iter().map(move |b| (a, b));
        A::all().into_iter().flat_map(with).collect()
    }
}

impl<A: ExperimentKey, B: ExperimentKey, C: ExperimentKey> ExperimentKey for (A, B, C) {
    fn name(self) -> String {
        ((self.0, self.1), self.2).name()
    }

    fn all() -> Vec<Self> {
        let flat = |((a, b), c)| (a, b, c);
        <((A, B), C)>::all().into_iter().map(flat).collect()
    }
}

/// Lines of an experiment that has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NoCurves {}

impl ExperimentKey for NoCurves {
    fn name(self) -> String {
        match self {}
    }

    fn all() -> Vec<NoCurves> {
        Vec::new()
    }
}

/// Defines enums of keys: first the keys with a name each, then, after a semicolon, families of
/// keys made of another key, with a pattern of their names.
macro_rules! keys {
    ($($(#[$meta:meta])* $vis:vis enum $type:ident {
        $($plain:ident = $name:literal,)*
        $(; $($family:ident($of:ty) = $pattern:literal,)+)?
    })+) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        $vis enum $type {
            $($plain,)*
            $($($family($of),)+)?
        }

        impl $crate::keys::ExperimentKey for $type {
            fn name(self) -> String {
                match self {
                    $(Self::$plain => $name.to_owned(),)*
                    $($(Self::$family(key) => {
                        format!($pattern, $crate::keys::ExperimentKey::name(key))
                    })+)?
                }
            }

            #[allow(unused_mut)]
            fn all() -> Vec<Self> {
                let mut keys = vec![$(Self::$plain),*];
                $($(keys.extend(
                    <$of as $crate::keys::ExperimentKey>::all().into_iter().map(Self::$family),
                );)+)?
                keys
            }
        }
    )+};
}
pub(crate) use keys;
