/** What the first start shows on the console, once. */
import type { FirstRun } from '../resources/accounts/first-run.ts'

export function firstRunBanner(
  baseUrl: string,
  { email, generatedPassword, apiKey, credentialsFile }: FirstRun,
  simulatorDomain: string,
): string {
  const message = JSON.stringify({
    from: 'You <you@example.com>',
    to: `delivered@${simulatorDomain}`,
    subject: 'Hello from Mailhorn',
    text: 'It works.',
  })
  const place = credentialsFile === null ? undefined : `(in ${credentialsFile})`
  const shownPassword = generatedPassword === null ? '(from the configuration)' : (place ?? generatedPassword)
  return `
Mailhorn is ready at ${baseUrl}

  Dashboard   ${baseUrl}/dashboard/
  User        ${email}
  Password    ${shownPassword}
  API key     ${place ?? apiKey}

${place === undefined ? 'Password and key are shown this once. ' : ''}Send a first message, to the simulator:

  curl -s ${baseUrl}/emails -H 'Authorization: Bearer ${place === undefined ? apiKey : '<API key>'}' -H 'Content-Type: application/json' -d '${message}'

`
}
