//! Services of the desktop, which work only when others ask them. Programs of a person wait for their
//! answers, so they continue while a person has control, no matter what started them.

use std::{fs, path::Path};

/// How the names of their programs begin.
const NAMES: [&str; 6] =
    ["at-spi", "dbus-daemon", "dconf-service", "gvfs", "xdg-desktop-portal", "xfconfd"];
/// Programs and libraries of the machine, which nothing in a sandbox can change.
const INSTALLED: &str = "/usr/";
/// Code of the kernel in every process.
const KERNEL: [&str; 2] = ["[vdso]", "[vsyscall]"];

/// Whether a process is a service of the desktop that has loaded no code of the agent.
pub fn is_exempt(pid: i32) -> bool {
    let Ok(program) = fs::read_link(format!("/proc/{pid}/exe")) else { return false };
    has_known_name(&program)
        && fs::read_to_string(format!("/proc/{pid}/maps")).is_ok_and(|maps| is_installed(&maps))
}

fn has_known_name(program: &Path) -> bool {
    let name = program.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    program.starts_with(INSTALLED) && NAMES.iter().any(|known| name.starts_with(known))
}

/// Whether all memory that can run is a file of the machine.
fn is_installed(maps: &str) -> bool {
    maps.lines().all(|line| {
        let mut fields = line.split_whitespace();
        let rights = fields.nth(1).unwrap_or_default();
        let file = fields.nth(3).unwrap_or_default();
        !rights.contains('x') || file.starts_with(INSTALLED) || KERNEL.contains(&file)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &str = "\
        5566d000-5567a000 r--p 00000000 08:01 1573  /usr/libexec/at-spi2-registryd\n\
        5567a000-55690000 r-xp 0000d000 08:01 1573  /usr/libexec/at-spi2-registryd\n\
        55f40000-55f61000 rw-p 00000000 00:00 0     [heap]\n\
        7f3a1000-7f3a2000 r--s 00000000 00:2f 12    /home/agent/.config/dconf/user\n\
        7ffd9000-7ffdb000 r-xp 00000000 00:00 0     [vdso]\n";

    #[test]
    fn services_of_the_machine_continue() {
        assert!(is_installed(MAPS));
        for program in [
            "/usr/bin/dbus-daemon",
            "/usr/libexec/at-spi2-registryd",
            "/usr/lib/x86_64-linux-gnu/xfce4/xfconf/xfconfd",
            // The machine installed a newer one meanwhile.
            "/usr/bin/dbus-daemon (deleted)",
        ] {
            assert!(has_known_name(Path::new(program)), "{program}");
        }
    }

    #[test]
    fn what_has_only_the_name_of_a_service_is_stopped() {
        for program in ["/usr/bin/bash", "/home/agent/xfconfd", "/memfd:xfconfd (deleted)"] {
            assert!(!has_known_name(Path::new(program)), "{program}");
        }
    }

    #[test]
    fn a_service_with_code_of_the_agent_is_stopped() {
        for code in [
            "7f3b0000-7f3b1000 r-xp 00000000 00:2f 13    /home/agent/preloaded.so\n",
            "7f3b0000-7f3b1000 rwxp 00000000 00:01 14    /memfd:usr (deleted)\n",
            "7f3b0000-7f3b1000 r-xp 00000000 00:00 0\n",
        ] {
            assert!(!is_installed(&format!("{MAPS}{code}")), "{code}");
        }
    }
}
