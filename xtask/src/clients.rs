//! `cargo xtask clients`: generates clients from our OpenAPI document and runs them against a
//! server.

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use helmdeck_testkit::Server;

const USAGE: &str = "\
Usage: cargo xtask clients

Lints docs/openapi.json with redocly, generates a Python client (openapi-python-client) and a
TypeScript client (@hey-api/openapi-ts), and has both create a session, act in it and end it.
The tools are installed into target/clients; python3 with venv, and npm, must be there.
Uses the helmdeck beside this program (cargo build -p helmdeck), or HELMDECK_BIN.";

const PYTHON_TOOLS: [&str; 1] = ["openapi-python-client==0.29.1"];
const NODE_TOOLS: [&str; 4] =
    ["@hey-api/openapi-ts@0.95.0", "@redocly/cli@2.73.0", "typescript@5.9.3", "@types/node@22"];

/// Runs everything and reports failures.
pub fn run(root: &Path, args: &[OsString]) -> ExitCode {
    if !args.is_empty() {
        println!("{USAGE}");
        return ExitCode::FAILURE;
    }
    match drive(root) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("clients: {error}");
            ExitCode::FAILURE
        }
    }
}

fn drive(root: &Path) -> io::Result<()> {
    let root = fs::canonicalize(root)?;
    let document = root.join("docs/openapi.json");
    let sources = root.join("xtask/clients");
    let folder = root.join("target/clients");
    fs::create_dir_all(&folder)?;
    let node = Node::install(folder.join("node"))?;
    node.execute("redocly", &["lint".as_ref(), document.as_ref()])?;

    let server = Server::start();
    let env = [
        ("HELMDECK_URL", format!("http://{}", server.address)),
        ("HELMDECK_TOKEN", server.token("clients", "sessions:*")),
    ];
    python(&folder.join("python"), &document, &sources, &env)?;
    typescript(&node, &document, &sources, &env)
}

type Env = [(&'static str, String)];

/// Generates the Python client and runs `drive.py` with it.
fn python(folder: &Path, document: &Path, sources: &Path, env: &Env) -> io::Result<()> {
    let bin = folder.join("bin");
    if !bin.join("openapi-python-client").exists() {
        done(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
        done(Command::new(bin.join("pip")).args(["install", "--quiet"]).args(PYTHON_TOOLS))?;
    }
    let generated = folder.join("generated");
    let mut generate = Command::new(bin.join("openapi-python-client"));
    generate.args(["generate", "--meta", "none", "--overwrite", "--fail-on-warning", "--path"]);
    generate.arg(document).arg("--output-path").arg(generated.join("helmdeck_client"));
    generate.arg("--config").arg(sources.join("openapi-python-client.yaml"));
    // The generator formats its output with the ruff that is installed beside it.
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([bin.clone()].into_iter().chain(std::env::split_paths(&path)));
    generate.env("PATH", path.map_err(io::Error::other)?);
    fs::create_dir_all(&generated)?;
    done(&mut generate)?;
    let mut drive = Command::new(bin.join("python"));
    drive.arg(sources.join("drive.py")).env("PYTHONPATH", &generated);
    done(drive.envs(env.iter().map(|(name, value)| (name, value))))
}

/// Generates the TypeScript client, type-checks `drive.ts` against it and runs it.
fn typescript(node: &Node, document: &Path, sources: &Path, env: &Env) -> io::Result<()> {
    let generated = node.folder.join("generated");
    node.execute(
        "openapi-ts",
        &["-i".as_ref(), document.as_ref(), "-o".as_ref(), generated.as_ref()],
    )?;
    fs::copy(sources.join("drive.ts"), node.folder.join("drive.ts"))?;
    let options = "--strict --esModuleInterop --skipLibCheck --target es2022 --module commonjs \
                   --types node --outDir out";
    let mut compile = Command::new(node.tool("tsc"));
    compile.args(options.split(' ')).arg("drive.ts").current_dir(&node.folder);
    done(&mut compile)?;
    let mut drive = Command::new("node");
    drive.arg(node.folder.join("out/drive.js"));
    done(drive.envs(env.iter().map(|(name, value)| (name, value))))
}

/// A folder with npm packages.
struct Node {
    folder: PathBuf,
}

impl Node {
    fn install(folder: PathBuf) -> io::Result<Self> {
        fs::create_dir_all(&folder)?;
        // CommonJS, so that generated imports without an extension resolve.
        fs::write(folder.join("package.json"), "{ \"private\": true }\n")?;
        let mut install = Command::new("npm");
        install.args(["install", "--no-audit", "--no-fund", "--no-save", "--silent", "--prefix"]);
        done(install.arg(&folder).args(NODE_TOOLS))?;
        Ok(Self { folder })
    }

    fn tool(&self, name: &str) -> PathBuf {
        self.folder.join("node_modules/.bin").join(name)
    }

    fn execute(&self, tool: &str, args: &[&std::ffi::OsStr]) -> io::Result<()> {
        done(Command::new(self.tool(tool)).args(args).current_dir(&self.folder))
    }
}

/// Runs a command, and fails unless it succeeds.
fn done(command: &mut Command) -> io::Result<()> {
    let status = command.status();
    let failed = |what: String| Err(io::Error::other(format!("{command:?}: {what}")));
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => failed(status.to_string()),
        Err(error) => failed(error.to_string()),
    }
}
