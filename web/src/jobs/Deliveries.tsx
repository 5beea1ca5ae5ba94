import { useCallback, useEffect, useState } from "react";
import { ApiError, client, explain } from "../api/client";
import type { Delivery } from "../api/wire";
import { useNow } from "../clock";
import { ago, ahead, count, dateAndTime } from "../format";
import { IconButton } from "../ui/IconButton";

interface DeliveriesProps {
  jobId: string;
  /** Its deliveries change when the job does. */
  state: string;
  mayAct: boolean;
}

/** How often attempts that are under way are shown, in milliseconds. */
const refresh = 3000;

const states: Record<string, { text: string; light: string }> = {
  waiting: { text: "Waits for the job", light: "" },
  pending: { text: "Sending", light: "starting" },
  delivered: { text: "Delivered", light: "running" },
  dead: { text: "Failed", light: "error" },
};

/** Where the result of a job was sent. Hidden if it has no webhook, or the server has none. */
export function Deliveries({ jobId, state, mayAct }: DeliveriesProps) {
  const [deliveries, setDeliveries] = useState<Delivery[]>([]);
  const [error, setError] = useState<string | null>(null);
  const now = useNow();

  const load = useCallback(async () => {
    try {
      setDeliveries(await client.deliveries(jobId));
      setError(null);
    } catch (caught) {
      // Servers without webhooks answer 404, and tokens without the permission 403.
      const absent = caught instanceof ApiError && [403, 404].includes(caught.status);
      setError(absent ? null : explain(caught));
    }
  }, [jobId]);
  useEffect(() => void load(), [load, state]);
  // Attempts have no events.
  const pending = deliveries.some((delivery) => delivery.state === "pending");
  useEffect(() => {
    if (!pending) return;
    const timer = window.setInterval(() => void load(), refresh);
    return () => window.clearInterval(timer);
  }, [pending, load]);

  const replay = async ({ id }: Delivery) => {
    try {
      await client.replayDelivery(id);
      await load();
    } catch (caught) {
      setError(explain(caught));
    }
  };

  if (deliveries.length === 0 && error === null) return null;
  return (
    <section className="deliveries">
      <h3>Webhook deliveries</h3>
      {error !== null && (
        <p className="error" role="alert">
          {error}
        </p>
      )}
      <ul>
        {deliveries.map((delivery) => (
          <li key={delivery.id}>
            <span className="badge" data-status={states[delivery.state]?.light}>
              <span className="light" />
              {states[delivery.state]?.text ?? delivery.state}
            </span>
            <span className="delivery-words">
              <code className="break-words">{delivery.url}</code>
              <span className="muted">
                {count(delivery.attempts, "attempt")}
                {delivery.last_status != null && ` · answered ${delivery.last_status}`}
                {delivery.last_error && ` · ${delivery.last_error}`}
                {delivery.next_attempt_at ? (
                  <span title={dateAndTime(delivery.next_attempt_at)}>
                    {" "}
                    · next {ahead(delivery.next_attempt_at, now)}
                  </span>
                ) : (
                  ` · ${ago(delivery.created_at, now)}`
                )}
              </span>
            </span>
            {mayAct && ["delivered", "dead"].includes(delivery.state) && (
              <IconButton
                icon="retry"
                label={`Send again to ${delivery.url}`}
                className="quiet"
                onClick={() => void replay(delivery)}
              />
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
