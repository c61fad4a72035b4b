//! Marks of what could name a person, a host or a single drive.

/// What a text has that is personal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PersonalTrace {
    /// A path of a file or device.
    Path,
    /// An address of mail.
    Mail,
    /// An address of a host.
    HostAddress,
    /// A world wide name or another long number of one drive.
    DriveNumber,
    /// A label that a serial number follows.
    Serial,
}

impl PersonalTrace {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            PersonalTrace::Path => "a path",
            PersonalTrace::Mail => "a mail address",
            PersonalTrace::HostAddress => "an address of a host",
            PersonalTrace::DriveNumber => "a number of a single drive",
            PersonalTrace::Serial => "a serial number",
        }
    }
}

/// Folders at the root, below which paths of people and devices lie.
const ROOTS: [&str; 8] = ["home", "root", "dev", "mnt", "var", "tmp", "Users", "media"];

/// Whether a text has a path: below one of the folders, of a share, or with a letter of a drive.
fn has_path(text: &str) -> bool {
    let below = |root: &&str| text.contains(&format!("/{root}/"));
    ROOTS.iter().any(below) || text.contains("\\\\") || text.contains(":\\")
}

/// What a text has that is personal; `None`: nothing by these marks.
pub fn personal(text: &str) -> Option<PersonalTrace> {
    if has_path(text) {
        return Some(PersonalTrace::Path);
    }
    let lower = text.to_ascii_lowercase();
    if ["serial", "s/n", "wwn"]
        .iter()
        .any(|label| lower.contains(label))
    {
        return Some(PersonalTrace::Serial);
    }
    let breaks = |c: char| c.is_whitespace() || matches!(c, ',' | ';' | '(' | ')' | '"');
    text.split(breaks).find_map(|word| match () {
        () if is_mail(word) => Some(PersonalTrace::Mail),
        () if is_host_address(word) => Some(PersonalTrace::HostAddress),
        () if is_drive_number(word) => Some(PersonalTrace::DriveNumber),
        () => None,
    })
}

fn is_mail(word: &str) -> bool {
    word.split_once('@')
        .is_some_and(|(user, host)| !user.is_empty() && host.contains('.'))
}

fn is_host_address(word: &str) -> bool {
    let octets: Vec<&str> = word.split('.').collect();
    octets.len() == 4 && octets.iter().all(|octet| octet.parse::<u8>().is_ok())
}

/// Sixteen hexadecimal digits and more, with or without `0x`: a WWN, an EUI-64, a UUID.
fn is_drive_number(word: &str) -> bool {
    let digits = word.trim_start_matches("0x").replace(['-', ':', '.'], "");
    digits.len() >= 16
        && digits.chars().all(|c| c.is_ascii_hexdigit())
        && digits.chars().any(|c| c.is_ascii_digit())
}
