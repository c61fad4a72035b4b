//! Looks up a path in the modules of a crate.

use super::tree::{ANY, Import, Scope, ScopeEntry, TYPES, Tree};

/// Target of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathTarget {
    Module(usize),
    /// An item: the module that defines it, its name.
    Item {
        module: usize,
        name: String,
    },
    /// Another crate, the prelude, a generic parameter or a local variable.
    Outside,
}

/// The place of a path: a module, and the blocks around the path, innermost last.
pub struct PathContext<'a> {
    pub module: usize,
    pub blocks: &'a [Scope],
}

/// Lookups in progress (module, name, name spaces): an import may lead back to itself.
type PendingLookups = Vec<(usize, String, u8)>;

impl Tree {
    /// Target of `path`; nothing if it enters a module and finds no such name there.
    pub fn resolve(&self, place: &PathContext, path: &[String]) -> Option<PathTarget> {
        self.walk(place, path, ANY, &mut Vec::new())
    }

    /// Target of a bare name that a `*` or a re-export brings in; nothing for a name that is
    /// defined here, or imported for this module alone.
    pub fn resolve_bare(&self, place: &PathContext, name: &str) -> Option<PathTarget> {
        let scope = &self.modules[place.module].scope;
        for scope in place.blocks.iter().rev().chain([scope]) {
            if scope.names.iter().any(|(n, _)| n == name) {
                return None;
            }
            let mut imports = scope.imports.iter();
            if let Some(import) = imports.find(|i| i.name.as_deref() == Some(name)) {
                let resolve_target = || self.resolve(place, &import.path);
                return import.is_public.then(resolve_target).flatten();
            }
            let target = self.globs(place.module, scope, name, ANY, &mut Vec::new());
            if target.is_some() {
                return target;
            }
        }
        None
    }

    fn walk(
        &self,
        place: &PathContext,
        path: &[String],
        space: u8,
        seen: &mut PendingLookups,
    ) -> Option<PathTarget> {
        let space_of = |index: usize| {
            if index + 1 == path.len() {
                space
            } else {
                TYPES
            }
        };
        let (first, mut rest) = path.split_first()?;
        let mut target = match first.as_str() {
            "crate" => PathTarget::Module(self.root(place.module)),
            "self" => PathTarget::Module(place.module),
            "super" => PathTarget::Module(self.modules[place.module].parent?),
            "Self" => return Some(PathTarget::Outside),
            name => self.first(place, name, space_of(0), seen),
        };
        while let Some((name, after)) = rest.split_first() {
            let index = path.len() - rest.len();
            target = match target {
                PathTarget::Module(module) if name == "super" => {
                    PathTarget::Module(self.modules[module].parent?)
                }
                PathTarget::Module(module) if name == "self" => PathTarget::Module(module),
                PathTarget::Module(module) => {
                    self.in_module(module, place.module, name, space_of(index), seen)?
                }
                // An associated function or a variant stands where its type does.
                item_or_outside => return Some(item_or_outside),
            };
            rest = after;
        }
        Some(target)
    }

    fn first(
        &self,
        place: &PathContext,
        name: &str,
        space: u8,
        seen: &mut PendingLookups,
    ) -> PathTarget {
        for block in place.blocks.iter().rev() {
            let module = place.module;
            if let Some(target) = self.visible(module, module, block, name, space, seen) {
                return target;
            }
        }
        if let Some(target) = self.in_module(place.module, place.module, name, space, seen) {
            return target;
        }
        match &self.library {
            Some((library, root)) if library == name => PathTarget::Module(*root),
            _ => PathTarget::Outside,
        }
    }

    /// A name of `module`, seen from `viewer`: private imports are visible only from inside.
    fn in_module(
        &self,
        module: usize,
        viewer: usize,
        name: &str,
        space: u8,
        seen: &mut PendingLookups,
    ) -> Option<PathTarget> {
        let key = (module, name.to_owned(), space);
        if seen.contains(&key) {
            return None;
        }
        seen.push(key);
        let scope = &self.modules[module].scope;
        let target = self.visible(module, viewer, scope, name, space, seen);
        seen.pop();
        target
    }

    fn visible(
        &self,
        module: usize,
        viewer: usize,
        scope: &Scope,
        name: &str,
        space: u8,
        seen: &mut PendingLookups,
    ) -> Option<PathTarget> {
        let (mut child, mut outside) = (None, None);
        for (_, named) in scope.names.iter().filter(|(n, _)| n == name) {
            match named {
                ScopeEntry::Module(module) if space & TYPES != 0 => child = Some(*module),
                ScopeEntry::Item(spaces, _) if space & spaces != 0 => {
                    return Some(PathTarget::Item {
                        module,
                        name: name.to_owned(),
                    });
                }
                _ => {}
            }
        }
        let inside = self.is_inside(viewer, module);
        let named = |i: &&Import| i.name.as_deref() == Some(name) && (i.is_public || inside);
        for import in scope.imports.iter().filter(named) {
            let place = PathContext {
                module,
                blocks: &[],
            };
            match self.walk(&place, &import.path, space, seen) {
                // The same name may stand for a module and for a function.
                Some(PathTarget::Module(module)) => child = child.or(Some(module)),
                Some(PathTarget::Outside) => outside = Some(PathTarget::Outside),
                None => {}
                item => return item,
            }
        }
        let named = child.map(PathTarget::Module).or(outside);
        named.or_else(|| self.globs(module, scope, name, space, seen))
    }

    /// A name through the `*` imports of a scope.
    fn globs(
        &self,
        module: usize,
        scope: &Scope,
        name: &str,
        space: u8,
        seen: &mut PendingLookups,
    ) -> Option<PathTarget> {
        let place = PathContext {
            module,
            blocks: &[],
        };
        for import in scope.imports.iter().filter(|import| import.name.is_none()) {
            let target = match self.walk(&place, &import.path, TYPES, seen) {
                Some(PathTarget::Module(from)) => self.in_module(from, module, name, space, seen),
                Some(PathTarget::Item { module, name: item }) => {
                    let has = self.variants(module, &item).any(|variant| variant == name);
                    has.then_some(PathTarget::Item { module, name: item })
                }
                _ => None,
            };
            if target.is_some() {
                return target;
            }
        }
        None
    }

    fn variants(&self, module: usize, item: &str) -> impl Iterator<Item = &String> {
        let named = self.modules[module].scope.names.iter();
        let named = named.filter(move |(name, _)| name == item);
        named.flat_map(|(_, named)| match named {
            ScopeEntry::Item(_, variants) => variants.as_slice(),
            ScopeEntry::Module(_) => &[],
        })
    }

    /// The module `name` that `module` declares.
    pub fn child(&self, module: usize, name: &str) -> Option<usize> {
        let names = self.modules[module].scope.names.iter();
        let mut named = names.filter(|(n, _)| n == name);
        named.find_map(|(_, named)| match named {
            ScopeEntry::Module(child) => Some(*child),
            ScopeEntry::Item(..) => None,
        })
    }

    fn root(&self, mut module: usize) -> usize {
        while let Some(parent) = self.modules[module].parent {
            module = parent;
        }
        module
    }

    /// Whether `module` is `ancestor` or below it.
    pub fn is_inside(&self, module: usize, ancestor: usize) -> bool {
        let mut current = Some(module);
        while let Some(module) = current {
            if module == ancestor {
                return true;
            }
            current = self.modules[module].parent;
        }
        false
    }
}
