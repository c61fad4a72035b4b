//! An XML text as a tree of elements.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// An element.
#[derive(Clone, Debug, Default)]
pub(super) struct XmlElement {
    pub name: String,
    /// In order.
    pub attributes: Vec<(String, String)>,
    /// Its text, without white space around it.
    pub text: String,
    pub children: Vec<XmlElement>,
}

impl XmlElement {
    /// The text of its child called `name`; `None` when it is missing or empty.
    pub fn value(&self, name: &str) -> Option<&str> {
        let child = self.children.iter().find(|child| child.name == name)?;
        Some(child.text.as_str()).filter(|text| !text.is_empty())
    }

    /// Its children called `name`.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a XmlElement> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// Its first child called `name`.
    pub fn child(&self, name: &str) -> Option<&XmlElement> {
        self.children.iter().find(|child| child.name == name)
    }

    fn from_start(start: &BytesStart) -> Result<XmlElement, String> {
        let name = start.name().as_ref().to_owned();
        let mut attributes = Vec::new();
        for attribute in start.attributes() {
            let attribute = attribute.map_err(|e| e.to_string())?;
            let key = attribute.key.as_ref().to_owned();
            let value = attribute.value.into_owned();
            attributes.push((key, value));
        }
        Ok(XmlElement {
            name,
            attributes,
            ..XmlElement::default()
        })
    }
}

/// Elements inside elements: more than this is not a profile.
const DEPTH_MAX: usize = 32;

/// The root element of `text`.
pub(super) fn parse(text: &str) -> Result<XmlElement, String> {
    let mut reader = Reader::from_str(text);
    // Whole texts, white space included, for that is what is trimmed off below.
    let mut open: Vec<XmlElement> = vec![XmlElement::default()];
    loop {
        let event = reader.read_event().map_err(|e| e.to_string())?;
        match event {
            Event::Start(start) => {
                if open.len() > DEPTH_MAX {
                    return Err("elements are nested too deeply".to_owned());
                }
                open.push(XmlElement::from_start(&start)?);
            }
            Event::Empty(start) => {
                let element = XmlElement::from_start(&start)?;
                if let Some(outer) = open.last_mut() {
                    outer.children.push(element);
                }
            }
            Event::End(_) => {
                let Some(mut element) = open.pop().filter(|_| !open.is_empty()) else {
                    return Err("an element ends that did not begin".to_owned());
                };
                element.text = element.text.trim().to_owned();
                if let Some(outer) = open.last_mut() {
                    outer.children.push(element);
                }
            }
            Event::Text(part) => {
                if let Some(element) = open.last_mut() {
                    element.text += &part;
                }
            }
            Event::Eof => break,
            _ => {}
        }
    }
    match (open.len(), open.pop()) {
        (1, Some(mut root)) if root.children.len() == 1 => Ok(root.children.remove(0)),
        _ => Err("it is not one element with others in it".to_owned()),
    }
}
