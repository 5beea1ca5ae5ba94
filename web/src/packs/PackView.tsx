import { useEffect, useRef, useState, type ReactNode } from "react";
import { allows, ApiError, client, explain } from "../api/client";
import type { Pack } from "../api/wire";
import { Prose } from "../docs/Prose";
import { sentence } from "../format";
import { useIdentity } from "../identity";
import { JobView } from "../jobs/JobView";
import { useJob } from "../jobs/useJob";
import { Link, navigate } from "../router";
import { Nothing } from "../ui/Nothing";
import { draftOf, fieldNamed, fieldsOf, type Draft } from "./form";
import { effectOf, packPage, sessionOf } from "./pack";
import { PackForm } from "./PackForm";
import { usePack } from "./usePacks";

/** One pack: what it does, a form to run it, and the result. */
export function PackView({ name, jobId }: { name: string; jobId: string | null }) {
  const { value: pack, error } = usePack(name);
  if (error !== null) {
    return (
      <p className="error" role="alert">
        {error}
      </p>
    );
  }
  if (pack === null) return <span className="spinner" role="status" aria-label="Loading" />;
  return <Loaded key={pack.name} pack={pack} jobId={jobId} />;
}

function Loaded({ pack, jobId }: { pack: Pack; jobId: string | null }) {
  const { scopes } = useIdentity();
  const [{ main, options }] = useState(() => fieldsOf(pack.input_schema ?? {}));
  const [draft, setDraft] = useState<Draft>({});
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [failure, setFailure] = useState<string | null>(null);
  const [starting, setStarting] = useState(false);
  const { job, error: jobError } = useJob(jobId);
  const heading = useRef<HTMLHeadingElement>(null);
  const result = useRef<HTMLElement>(null);
  const working = starting || job?.state === "working";

  useEffect(() => heading.current?.focus(), []);

  // A link to a job fills in its input, unless this page started it.
  const started = useRef<string | null>(null);
  useEffect(() => {
    if (jobId === null || jobId === started.current) return;
    let current = true;
    client.jobInput(jobId).then(
      (input) => current && setDraft(draftOf([...main, ...options], input)),
      // An old job: the form stays empty.
      () => {},
    );
    return () => {
      current = false;
    };
  }, [jobId, main, options]);

  // The input may be wrong in a way that only the pack finds out.
  const wrongField = job?.state === "failed" && job.job_id === started.current ? fieldNamed(job.error?.field) : null;
  const wrongText = job?.error?.message;
  useEffect(() => {
    if (wrongField !== null && wrongText !== undefined) setErrors({ [wrongField]: sentence(wrongText) });
  }, [wrongField, wrongText]);

  const [ownId, ownState] = job !== null && job.job_id === started.current ? [job.job_id, job.state] : [null, null];
  useEffect(() => {
    if (ownId !== null) result.current?.scrollIntoView({ block: "nearest" });
  }, [ownId, ownState]);

  const run = async (input: Record<string, unknown>) => {
    setStarting(true);
    setFailure(null);
    try {
      const job = await client.runPack(pack.name, input);
      started.current = job.job_id;
      navigate(packPage(pack.name, job.job_id), true);
    } catch (caught) {
      const field = caught instanceof ApiError ? fieldNamed(caught.body.field) : null;
      const known = [...main, ...options].some(({ name }) => name === field);
      if (field !== null && known) setErrors({ [field]: explain(caught) });
      else setFailure(withHint(caught));
    }
    setStarting(false);
  };
  const fill = (input: Record<string, unknown>) =>
    setDraft(({ _session_id: session }) => ({
      ...draftOf([...main, ...options], input),
      ...(session === undefined ? {} : { _session_id: session }),
    }));
  const cancel = async () => {
    if (job === null) return;
    try {
      await client.cancelJob(job.job_id);
    } catch (caught) {
      setFailure(explain(caught));
    }
  };

  return (
    <article className="pack" aria-label={pack.name}>
      <header>
        <h2 ref={heading} tabIndex={-1}>
          <code>{pack.name}</code>
        </h2>
        <Marks pack={pack} />
      </header>
      <div className="pack-doc">
        <Prose text={pack.description} />
      </div>
      {pack.unavailable && (
        <p className="notice" role="note">
          <b>It cannot run on this server:</b> {pack.unavailable}
        </p>
      )}
      <Facts pack={pack} />
      <Examples pack={pack} onChoose={fill} />
      {allows(scopes, "sessions:act") ? (
        <PackForm
          main={main}
          options={options}
          draft={draft}
          errors={errors}
          working={working}
          onDraft={setDraft}
          onErrors={setErrors}
          onRun={(input) => void run(input)}
          onCancel={job?.state === "working" ? () => void cancel() : null}
        />
      ) : (
        <p className="muted">Your token lacks the permission to run packs.</p>
      )}
      {failure !== null && (
        <p className="error" role="alert">
          {failure}
        </p>
      )}
      <section ref={result} className="pack-result" aria-live="polite" aria-label="Result">
        {jobId !== null && (jobError !== null || job !== null) && <h3>Result</h3>}
        {jobError !== null && <p className="error">{jobError}</p>}
        {job !== null && <JobView job={job} />}
      </section>
    </article>
  );
}

function withHint(caught: unknown): string {
  const hint = caught instanceof ApiError && typeof caught.body.hint === "string" ? ` ${sentence(caught.body.hint)}` : "";
  return explain(caught) + hint;
}

function Marks({ pack }: { pack: Pack }) {
  const effect = effectOf(pack);
  return (
    <span className="pack-marks">
      <span className="mark" data-tone={effect.tone}>
        {effect.text}
      </span>
      {pack.nature.open_world && <span className="mark">Uses the network</span>}
      {pack.async && <span className="mark">Takes long</span>}
      <span className="mark">{pack.latest}</span>
    </span>
  );
}

/** Calls that fill in the form. The session stays the chosen one. */
function Examples({ pack, onChoose }: { pack: Pack; onChoose: (input: Record<string, unknown>) => void }) {
  if (!pack.examples?.length) return null;
  return (
    <p className="pack-examples">
      <span className="muted">Fill in an example:</span>
      {pack.examples.map(({ title, input }) => {
        const { _session_id: _, ...rest } = input;
        return (
          <button key={title} type="button" onClick={() => onChoose(rest)}>
            {title}
          </button>
        );
      })}
    </p>
  );
}

/** What it needs, and what agents choose it by. */
function Facts({ pack }: { pack: Pack }) {
  const { accepts = [], produces = [], typical_use, limitations = [] } = pack.routing;
  return (
    <dl className="pack-facts">
      {typical_use && (
        <Fact name="Use it to">
          <Prose text={typical_use} />
        </Fact>
      )}
      <Fact name="Session">{sessionOf(pack)}</Fact>
      {pack.programs.length > 0 && (
        <Fact name="Programs">
          <code>{pack.programs.join(", ")}</code>
        </Fact>
      )}
      {pack.credential && (
        <Fact name="Credential">
          <Link to="credentials">
            <code>{pack.credential}</code>
          </Link>
        </Fact>
      )}
      {accepts.length > 0 && <Fact name="Takes">{accepts.join(", ")}</Fact>}
      {produces.length > 0 && <Fact name="Makes">{produces.join(", ")}</Fact>}
      {limitations.length > 0 && (
        <Fact name="Limits">
          <Prose text={limitations.join(" ")} />
        </Fact>
      )}
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

/** Shown beside the list before a pack is chosen. */
export function NoPack() {
  return (
    <Nothing icon="pack" title="Choose a pack to run it">
      <p className="muted">
        Clone a repository, read a page, run the tests: the form shows every input with its meaning, and the result is
        what an agent would get.
      </p>
      <Link className="button" to="jobs">
        See all jobs
      </Link>
    </Nothing>
  );
}
