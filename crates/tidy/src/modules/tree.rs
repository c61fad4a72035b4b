//! The modules of a crate and the names that each defines or imports.

use proc_macro2::TokenTree;
use std::collections::BTreeMap;
use syn::{Attribute, Item, ItemMacro, ItemMod, ItemUse, Lit, Meta, UseTree, Visibility};

/// The name spaces of Rust, as bits: a name may have one meaning in each.
pub const TYPES: u8 = 1;
/// Functions, constants, statics, constructors.
pub const VALUES: u8 = 2;
/// Macros by example.
pub const MACROS: u8 = 4;
/// Any of them.
pub const ANY: u8 = 7;

/// All modules of a crate.
pub struct Tree {
    pub files: Vec<ModuleFile>,
    pub modules: Vec<Module>,
    /// Name of the crate's library in paths, and its root module.
    pub library: Option<(String, usize)>,
    /// Macros by example and the modules that define them.
    pub macros: BTreeMap<String, Vec<usize>>,
}

pub struct ModuleFile {
    /// Below `src`.
    pub path: String,
    /// The module that the file is.
    pub module: usize,
    pub items: Vec<Item>,
}

pub struct Module {
    pub file: usize,
    pub parent: Option<usize>,
    pub scope: Scope,
}

/// Names of a module or of a block.
#[derive(Default)]
pub struct Scope {
    pub names: Vec<(String, ScopeEntry)>,
    pub imports: Vec<Import>,
}

#[derive(Clone)]
pub enum ScopeEntry {
    Module(usize),
    /// An item: its name spaces, and the variants of an enum.
    Item(u8, Vec<String>),
}

/// One name, or everything, that a `use` brings in.
pub struct Import {
    pub path: Vec<String>,
    /// The name it has here; nothing for `*`.
    pub name: Option<String>,
    /// Whether it has a visibility: `pub`, `pub(crate)` and so on.
    pub is_public: bool,
}

impl Tree {
    pub fn read(package: &str, texts: &BTreeMap<String, String>) -> Result<Tree, String> {
        let mut tree = Tree {
            files: Vec::new(),
            modules: Vec::new(),
            library: None,
            macros: BTreeMap::new(),
        };
        let is_root = |path: &&String| {
            let program = path
                .strip_prefix("bin/")
                .is_some_and(|name| !name.contains('/'));
            *path == "lib.rs" || *path == "main.rs" || program
        };
        for path in texts.keys().filter(is_root) {
            let root = tree.modules.len();
            tree.file(path, None, path.rsplit_once('/').map_or("", |p| p.0), texts)?;
            if path == "lib.rs" {
                tree.library = Some((package.replace('-', "_"), root));
            }
        }
        Ok(tree)
    }

    /// Reads a file whose modules stand in `folder`; returns its module.
    fn file(
        &mut self,
        path: &str,
        parent: Option<usize>,
        folder: &str,
        texts: &BTreeMap<String, String>,
    ) -> Result<usize, String> {
        let text = texts
            .get(path)
            .ok_or_else(|| format!("{path}: no such file"))?;
        let parsed = syn::parse_file(text).map_err(|error| format!("{path}: {error}"))?;
        let file = self.files.len();
        let module = self.module(file, parent);
        self.files.push(ModuleFile {
            path: path.to_owned(),
            module,
            items: Vec::new(),
        });
        self.fill(module, &parsed.items, folder, texts)?;
        self.files[file].items = parsed.items;
        Ok(module)
    }

    fn module(&mut self, file: usize, parent: Option<usize>) -> usize {
        self.modules.push(Module {
            file,
            parent,
            scope: Scope::default(),
        });
        self.modules.len() - 1
    }

    fn fill(
        &mut self,
        module: usize,
        items: &[Item],
        folder: &str,
        texts: &BTreeMap<String, String>,
    ) -> Result<(), String> {
        let mut scope = Scope::of(items);
        for (name, named) in &scope.names {
            if matches!(named, ScopeEntry::Item(MACROS, _)) {
                self.macros.entry(name.clone()).or_default().push(module);
            }
        }
        for item in items {
            if let Item::Mod(declared) = item {
                let child = self.declared(module, declared, folder, texts)?;
                scope
                    .names
                    .push((declared.ident.to_string(), ScopeEntry::Module(child)));
            }
        }
        self.modules[module].scope = scope;
        Ok(())
    }

    fn declared(
        &mut self,
        parent: usize,
        declared: &ItemMod,
        folder: &str,
        texts: &BTreeMap<String, String>,
    ) -> Result<usize, String> {
        let own = self.modules[parent].file;
        let below = join(folder, &declared.ident.to_string());
        if let Some((_, items)) = &declared.content {
            let child = self.module(own, Some(parent));
            self.fill(child, items, &below, texts)?;
            return Ok(child);
        }
        if let Some(path) = path_attribute(&declared.attrs) {
            let beside = self.files[own].path.rsplit_once('/').map_or("", |p| p.0);
            let path = join(beside, &path);
            let folder = path.rsplit_once('/').map_or("", |p| p.0).to_owned();
            return self.file(&path, Some(parent), &folder, texts);
        }
        let file = format!("{below}.rs");
        let path = if texts.contains_key(&file) {
            file
        } else {
            format!("{below}/mod.rs")
        };
        self.file(&path, Some(parent), &below, texts)
    }
}

fn join(folder: &str, name: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in name.split('/') {
        match part {
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// The file of `#[path = "..."]`.
fn path_attribute(attributes: &[Attribute]) -> Option<String> {
    let path = attributes.iter().find(|a| a.path().is_ident("path"))?;
    let Meta::NameValue(given) = &path.meta else {
        return None;
    };
    match &given.value {
        syn::Expr::Lit(literal) => match &literal.lit {
            Lit::Str(text) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}

impl Scope {
    /// The names that items define and import, without modules.
    pub fn of<'a>(items: impl IntoIterator<Item = &'a Item>) -> Scope {
        let mut scope = Scope::default();
        for item in items {
            if let Item::Use(import) = item {
                scope.imports.extend(imports(import));
            } else if let Some((name, spaces, variants)) = definition(item) {
                scope.names.push((name, ScopeEntry::Item(spaces, variants)));
            }
            if let Item::Macro(item) = item {
                let names = made_by_macro(item).into_iter();
                scope
                    .names
                    .extend(names.map(|name| (name, ScopeEntry::Item(TYPES | VALUES, Vec::new()))));
            }
        }
        scope
    }
}

/// Name, name spaces and variants of an item.
fn definition(item: &Item) -> Option<(String, u8, Vec<String>)> {
    let (name, spaces) = match item {
        Item::Const(i) => (&i.ident, VALUES),
        Item::Static(i) => (&i.ident, VALUES),
        Item::Fn(i) => (&i.sig.ident, VALUES),
        Item::Enum(i) => {
            let variants = i.variants.iter().map(|v| v.ident.to_string());
            return Some((i.ident.to_string(), TYPES, variants.collect()));
        }
        Item::Struct(i) if matches!(i.fields, syn::Fields::Named(_)) => (&i.ident, TYPES),
        Item::Struct(i) => (&i.ident, TYPES | VALUES),
        Item::Trait(i) => (&i.ident, TYPES),
        Item::TraitAlias(i) => (&i.ident, TYPES),
        Item::Type(i) => (&i.ident, TYPES),
        Item::Union(i) => (&i.ident, TYPES),
        Item::Macro(i) => (i.ident.as_ref()?, MACROS),
        _ => return None,
    };
    Some((name.to_string(), spaces, Vec::new()))
}

/// Names of the items that a macro by example generates: from its body, if the macro is defined
/// here; from its arguments, if it is called here.
fn made_by_macro(item: &ItemMacro) -> Vec<String> {
    let tokens: Vec<TokenTree> = item.mac.tokens.clone().into_iter().collect();
    if item.ident.is_none() {
        return items_among(&tokens);
    }
    let groups = tokens.iter().filter_map(|token| match token {
        TokenTree::Group(group) => Some(group.stream().into_iter().collect::<Vec<_>>()),
        _ => None,
    });
    groups.flat_map(|group| items_among(&group)).collect()
}

/// Names that follow a keyword that begins an item.
fn items_among(tokens: &[TokenTree]) -> Vec<String> {
    let kinds = [
        "struct", "enum", "union", "trait", "type", "fn", "const", "static",
    ];
    let pairs = tokens.windows(2).filter_map(|pair| match pair {
        [TokenTree::Ident(kind), TokenTree::Ident(name)] => Some((kind.to_string(), name)),
        _ => None,
    });
    let named = pairs.filter(|(kind, _)| kinds.contains(&kind.as_str()));
    named.map(|(_, name)| name.to_string()).collect()
}

/// Every name of a `use`, with its path. `::` in front means another crate: no name of ours.
pub fn imports(import: &ItemUse) -> Vec<Import> {
    let mut entries = Vec::new();
    if import.leading_colon.is_none() {
        let is_public = !matches!(import.vis, Visibility::Inherited);
        flatten(&import.tree, &mut Vec::new(), is_public, &mut entries);
    }
    entries
}

fn flatten(tree: &UseTree, path: &mut Vec<String>, is_public: bool, imports: &mut Vec<Import>) {
    let mut import = |path: Vec<String>, name: Option<String>| {
        imports.push(Import {
            path,
            name,
            is_public,
        });
    };
    match tree {
        UseTree::Path(step) => {
            path.push(step.ident.to_string());
            flatten(&step.tree, path, is_public, imports);
            path.pop();
        }
        UseTree::Group(group) => {
            for tree in &group.items {
                flatten(tree, path, is_public, imports);
            }
        }
        UseTree::Glob(_) => import(path.clone(), None),
        UseTree::Name(name) if name.ident == "self" => import(path.clone(), path.last().cloned()),
        UseTree::Name(name) => {
            let name = name.ident.to_string();
            let mut path = path.clone();
            path.push(name.clone());
            import(path, Some(name));
        }
        UseTree::Rename(renamed) => {
            let mut path = path.clone();
            if renamed.ident != "self" {
                path.push(renamed.ident.to_string());
            }
            import(path, Some(renamed.rename.to_string()));
        }
    }
}
