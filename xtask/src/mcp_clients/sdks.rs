//! SDKs, each driven by a script in `xtask/clients/mcp`.

use std::{
    io::{self, BufRead, BufReader, Write},
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::Duration,
};

use helmdeck_testkit::binary;

use super::{Bench, Outcome, Transport};
use crate::mcp_packages::isolate;

/// The longest pause between two lines of a script, beside the long command.
const PATIENCE: Duration = Duration::from_secs(60);

/// An SDK, a transport, and the generation of the protocol that it is told to speak.
pub struct Sdk {
    pub name: &'static str,
    version: &'static str,
    language: Language,
    transport: Transport,
    era: &'static str,
}

#[derive(Clone, Copy)]
enum Language {
    TypeScript(&'static str),
    Python,
}

const fn typescript1(transport: Transport) -> Sdk {
    let language = Language::TypeScript("v1");
    Sdk { name: "TypeScript SDK v1", version: "1.32.2", language, transport, era: "legacy" }
}

const fn typescript2(transport: Transport, era: &'static str) -> Sdk {
    let language = Language::TypeScript("v2");
    Sdk { name: "TypeScript SDK v2", version: "2.4.0", language, transport, era }
}

const fn python(transport: Transport, era: &'static str) -> Sdk {
    let language = Language::Python;
    Sdk { name: "Python SDK", version: "2.3.0", language, transport, era }
}

pub const ALL: [Sdk; 13] = [
    typescript1(Transport::Http),
    typescript1(Transport::Sse),
    typescript1(Transport::Stdio),
    typescript2(Transport::Http, "auto"),
    typescript2(Transport::Http, "legacy"),
    typescript2(Transport::Sse, "legacy"),
    typescript2(Transport::Stdio, "auto"),
    typescript2(Transport::Stdio, "legacy"),
    python(Transport::Http, "auto"),
    python(Transport::Http, "legacy"),
    python(Transport::Sse, "legacy"),
    python(Transport::Stdio, "auto"),
    python(Transport::Stdio, "legacy"),
];

/// Runs the script of an SDK to its end.
pub fn drive(bench: &mut Bench, sdk: &Sdk) -> Outcome {
    eprintln!("{} over {}, {}", sdk.name, sdk.transport.name(), sdk.era);
    let mut outcome = Outcome {
        client: sdk.name,
        version: sdk.version,
        transport: sdk.transport,
        protocol: sdk.era.to_owned(),
        result: Err("this helmdeck has no command `mcp`".to_owned()),
        skipped: sdk.transport == Transport::Stdio && !bench.has_stdio,
    };
    if !outcome.skipped {
        outcome.result = follow(bench, sdk, &mut outcome.protocol)
            .unwrap_or_else(|error| Err(format!("the script could not be run: {error}")));
    }
    outcome
}

fn follow(
    bench: &mut Bench,
    sdk: &Sdk,
    protocol: &mut String,
) -> io::Result<Result<String, String>> {
    let home = tempfile::tempdir()?;
    let mut command = script(bench, sdk)?;
    isolate(&mut command, home.path());
    command.env("HELMDECK_URL", bench.url()).env("HELMDECK_TOKEN", &bench.token);
    command.env("HELMDECK_BIN", binary()).env("LONG_S", bench.long.as_secs().to_string());
    command.env("TRANSPORT", sdk.transport.name()).env("ERA", sdk.era);
    let mut running = Running::start(&mut command)?;
    let (mut done, mut failure) = (Vec::new(), None);
    while let Ok(line) = running.lines.recv_timeout(PATIENCE + bench.long) {
        match line.split_once(' ').unwrap_or((&line, "")) {
            ("PROTOCOL", version) => version.clone_into(protocol),
            ("OK", step) => done.push(step.to_owned()),
            ("FAILED", step) => failure = Some(step.to_owned()),
            ("RESTART", _) => {
                bench.server.kill();
                bench.server.restart();
                running.answer()?;
            }
            _ => eprintln!("  {line}"),
        }
    }
    Ok(match (failure, running.succeeds()) {
        (None, true) => Ok(done.join(", ")),
        (Some(failure), _) => Err(failure),
        (None, false) => Err(format!("it ended, or did nothing, after {}", done.join(", "))),
    })
}

fn script(bench: &Bench, sdk: &Sdk) -> io::Result<Command> {
    match sdk.language {
        Language::TypeScript(version) => {
            let mut command = bench.packages.script(&bench.sources.join("drive.mjs"))?;
            command.env("SDK", version);
            Ok(command)
        }
        Language::Python => {
            let mut command = Command::new(bench.packages.python());
            command.arg(bench.sources.join("drive.py"));
            Ok(command)
        }
    }
}

/// A script and the lines it prints. Dropping it kills it.
struct Running {
    process: Child,
    lines: Receiver<String>,
}

impl Running {
    fn start(command: &mut Command) -> io::Result<Self> {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let output = process.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Self { process, lines })
    }

    /// Tells the script that it can go on.
    fn answer(&mut self) -> io::Result<()> {
        self.process.stdin.as_mut().map_or(Ok(()), |input| input.write_all(b"\n"))
    }

    /// Whether it has ended well. A script that still runs is stuck.
    fn succeeds(&mut self) -> bool {
        // Its output has ended, so it is about to end itself.
        for _ in 0..100 {
            if let Ok(Some(status)) = self.process.try_wait() {
                return status.success();
            }
            thread::sleep(Duration::from_millis(50));
        }
        false
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
