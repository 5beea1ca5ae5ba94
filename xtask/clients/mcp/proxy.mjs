// Passes requests on with the bearer token that the conformance suite cannot send. Host and Origin stay.
import http from "node:http";

const target = new URL(process.env.HELMDECK_URL);
const authorization = `Bearer ${process.env.HELMDECK_TOKEN}`;

const proxy = http.createServer((request, response) => {
  const { method, url: path } = request;
  const headers = { ...request.headers, authorization };
  const passed = http.request({ host: target.hostname, port: target.port, method, path, headers });
  passed.on("response", (answer) => {
    response.writeHead(answer.statusCode, answer.rawHeaders);
    answer.pipe(response);
  });
  passed.on("error", () => response.destroy());
  // Closing a stream cancels the call behind it.
  response.on("close", () => passed.destroy());
  request.pipe(passed);
});
proxy.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${proxy.address().port}`));
