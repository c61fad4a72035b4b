//! The machines to boot: arguments of a hypervisor, with places to fill in.
//!
//! | in an argument | filled in |
//! |---|---|
//! | `{kernel}`, `{initrd}`, `{append}` | the guest's kernel, image and command line |
//! | `{drive}` | a drive: an NBD URI, or the path of a file |
//! | `{vhost-user}` | a drive: the socket of a vhost-user-blk device |

use super::plan::{CACHE_MODES, ConformPlan, MODELS, VHOST_USER};
use ssdlab_base::LabError;
use std::path::Path;

/// A drive of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrivePlan {
    /// Device model.
    pub model: String,
    /// Cache mode; empty on hosts without one.
    pub cache: String,
    /// Whether it is a vhost-user-blk device.
    pub is_vhost_user: bool,
}

impl DrivePlan {
    /// The name in its label.
    pub fn name(&self) -> String {
        match self.cache.as_str() {
            "" => self.model.clone(),
            cache => format!("{}, cache={cache}", self.model),
        }
    }
}

/// A machine to boot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuestMachine {
    /// Name, for progress.
    pub name: String,
    /// Arguments, the program first, with places to fill in. `{drive}` is that of the first drive,
    /// `{drive1}` of the second, and so on; likewise `{vhost-user}`.
    pub arguments: Vec<String>,
    /// Its drives.
    pub drives: Vec<DrivePlan>,
}

/// The machines of a plan.
pub fn machines(plan: &ConformPlan) -> Result<Vec<GuestMachine>, LabError> {
    let [program, arguments @ ..] = plan.command.as_slice() else {
        return Err(LabError::refused(
            "no hypervisor is named",
            "-- qemu-system-x86_64",
        ));
    };
    if !arguments.is_empty() {
        return Ok(vec![given(&plan.command)?]);
    }
    let name = Path::new(program)
        .file_name()
        .unwrap_or_default()
        .to_string_lossy();
    if !name.starts_with("qemu-system-") {
        return Err(LabError::refused(
            format!("{program}: the arguments of this hypervisor are not known here"),
            "name them all, with {kernel}, {initrd}, {append} and {drive} or {vhost-user} where \
             these belong, and its serial line on standard input and output",
        ));
    }
    let mut models = chosen("--model", &plan.models, &[MODELS, &[VHOST_USER]].concat())?;
    let cache_modes = chosen("--cache", &plan.cache_modes, CACHE_MODES)?;
    let mut machines = Vec::new();
    let has_own = models.contains(&VHOST_USER);
    models.retain(|model| *model != VHOST_USER);
    for cache in cache_modes.iter().filter(|_| !models.is_empty()) {
        machines.push(qemu(program, cache, &models));
    }
    if has_own {
        machines.push(qemu_vhost_user(program));
    }
    Ok(machines)
}

/// The names given to `option`, which must be among `known`; these without any.
fn chosen(
    option: &str,
    names: &[String],
    known: &[&'static str],
) -> Result<Vec<&'static str>, LabError> {
    if names.is_empty() {
        return Ok(known.to_vec());
    }
    let known_one = |name: &String| {
        let position = known.iter().position(|it| it == name);
        let position = position.ok_or_else(|| {
            LabError::refused(
                format!("{option} {name} is not known"),
                format!("one of {}", known.join(", ")),
            )
        })?;
        Ok(known[position])
    };
    names.iter().map(known_one).collect()
}

fn given(command: &[String]) -> Result<GuestMachine, LabError> {
    let has = |place: &str| command.iter().any(|argument| argument.contains(place));
    for place in ["{kernel}", "{initrd}", "{append}"] {
        if !has(place) {
            return Err(LabError::refused(
                format!("{place} is in none of the hypervisor's arguments: no guest would boot"),
                "-- HYPERVISOR ... -kernel {kernel} -initrd {initrd} -append {append} ...; the \
                 program name alone, for QEMU, tests its device models and cache modes",
            ));
        }
    }
    let drive = |model: &str, is_vhost_user| DrivePlan {
        model: model.to_owned(),
        cache: String::new(),
        is_vhost_user,
    };
    let drives = match (has("{drive}"), has("{vhost-user}")) {
        (true, false) => drive("drive", false),
        (false, true) => drive(VHOST_USER, true),
        _ => {
            return Err(LabError::refused(
                "the hypervisor's arguments need one drive: {drive} or {vhost-user}",
                "{drive} is an NBD URI (with --file, a path), {vhost-user} is a socket",
            ));
        }
    };
    Ok(GuestMachine {
        name: command[0].clone(),
        arguments: command.to_vec(),
        drives: vec![drives],
    })
}

fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split_whitespace().map(str::to_owned)
}

/// What every machine of QEMU has.
fn qemu_base(program: &str) -> Vec<String> {
    let mut arguments = vec![program.to_owned()];
    arguments.extend(words(
        "-nodefaults -no-user-config -no-reboot -display none -serial stdio -m 1G \
         -machine pc,accel=tcg -kernel {kernel} -initrd {initrd} -append {append}",
    ));
    arguments
}

fn qemu(program: &str, cache: &str, models: &[&str]) -> GuestMachine {
    let mut arguments = qemu_base(program);
    for (number, model) in models.iter().enumerate() {
        let drive = format!("file={{drive{number}}},format=raw,if=none,id=d{number},cache={cache}");
        arguments.extend(["-drive".to_owned(), drive]);
        let device = match *model {
            "virtio-blk" => format!("-device virtio-blk-pci,drive=d{number}"),
            "virtio-scsi" => format!(
                "-device virtio-scsi-pci,id=scsi -device scsi-hd,bus=scsi.0,drive=d{number}"
            ),
            "nvme" => format!("-device nvme,serial=ssdlab,drive=d{number}"),
            "ahci" => {
                format!("-device ich9-ahci,id=ahci -device ide-hd,bus=ahci.0,drive=d{number}")
            }
            _ => format!("-device ide-hd,bus=ide.0,drive=d{number}"),
        };
        arguments.extend(words(&device));
    }
    let drive = |model: &&str| DrivePlan {
        model: (*model).to_owned(),
        cache: cache.to_owned(),
        is_vhost_user: false,
    };
    GuestMachine {
        name: format!("cache={cache}"),
        arguments,
        drives: models.iter().map(drive).collect(),
    }
}

fn qemu_vhost_user(program: &str) -> GuestMachine {
    let mut arguments = qemu_base(program);
    arguments.extend(words(
        "-object memory-backend-memfd,id=m,size=1G,share=on -numa node,memdev=m -smp 2 \
         -chardev socket,id=c,path={vhost-user},reconnect=1 \
         -device vhost-user-blk-pci,chardev=c,num-queues=2",
    ));
    GuestMachine {
        name: VHOST_USER.to_owned(),
        arguments,
        drives: vec![DrivePlan {
            model: VHOST_USER.to_owned(),
            cache: String::new(),
            is_vhost_user: true,
        }],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::plan::Transport;
    use std::path::PathBuf;
    use std::time::Duration;

    fn plan(command: &[&str], models: &[&str], cache_modes: &[&str]) -> ConformPlan {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        ConformPlan {
            command: owned(command),
            kernel: PathBuf::new(),
            modules: None,
            guest: PathBuf::new(),
            layer: Vec::new(),
            layer_modules: Vec::new(),
            models: owned(models),
            cache_modes: owned(cache_modes),
            transport: Transport::Nbd,
            timeout: Duration::ZERO,
        }
    }

    #[test]
    fn one_guest_for_each_cache_mode_and_one_for_our_own_device() {
        let all = [MODELS, &[VHOST_USER]].concat();
        let found = machines(&plan(&["/usr/bin/qemu-system-x86_64"], &all, CACHE_MODES));
        let found = found.expect("good");
        let drives: Vec<usize> = found.iter().map(|machine| machine.drives.len()).collect();
        assert_eq!(drives, [5, 5, 5, 5, 5, 1]);
        assert_eq!(found[1].drives[2].name(), "nvme, cache=writeback");
    }

    #[test]
    fn what_cannot_work_is_refused_with_a_hint() {
        let refused = [
            plan(&[], MODELS, CACHE_MODES),
            plan(&["crosvm"], MODELS, CACHE_MODES),
            plan(&["qemu-system-x86_64"], &["floppy"], CACHE_MODES),
            plan(&["qemu-system-x86_64"], MODELS, &["fast"]),
            plan(&["vmm", "{kernel}", "{initrd}"], MODELS, CACHE_MODES),
            plan(
                &["vmm", "{kernel}", "{initrd}", "{append}"],
                MODELS,
                CACHE_MODES,
            ),
        ];
        for plan in refused {
            let error = machines(&plan).expect_err("refused");
            assert!(!error.hint().is_empty(), "{:?}", plan.command);
        }
        let own = ["vmm", "{kernel}", "{initrd}", "{append}", "d={drive}"];
        let found = machines(&plan(&own, &[], &[])).expect("good");
        assert_eq!((found.len(), found[0].drives.len()), (1, 1));
    }
}
