/** What the first start shows on the console, once. */
import type { FirstRun } from './accounts/first-run.ts'

export function welcome(
  baseUrl: string,
  { email, generatedPassword, apiKey }: FirstRun,
  simulatorDomain: string,
): string {
  const message = JSON.stringify({
    from: 'You <you@example.com>',
    to: `delivered@${simulatorDomain}`,
    subject: 'Hello from Posthorn',
    text: 'It works.',
  })
  return `
Posthorn is ready at ${baseUrl}

  Dashboard   ${baseUrl}/dashboard/
  User        ${email}
  Password    ${generatedPassword ?? '(from the configuration)'}
  API key     ${apiKey}

Password and key are shown this once. Send a first message, to the simulator:

  curl -s ${baseUrl}/emails -H 'Authorization: Bearer ${apiKey}' -H 'Content-Type: application/json' -d '${message}'

`
}
