/** Answers of `mailhorn init`: from its arguments, from the network interfaces, or typed on a terminal. */
import {
  AnswerFault,
  type AnswerField,
  HTTPS_MODES,
  ownNameOf,
  publicOnesOf,
  RUN_MODES,
  readContact,
  readHost,
  readPrivateAddresses,
  readPublicAddresses,
} from '../setup/answers.ts'
import type { OwnName, RunMode } from '../setup/own-name.ts'
import type { CommandInput } from './command.ts'
import { UsageError } from './control/result.ts'

/** Options that the answers are given by. The host name is an argument. */
const OPTIONS: Record<AnswerField, string> = {
  mail_host: '',
  addresses: '--address: ',
  private_addresses: '--private-address: ',
  contact: '--contact: ',
}

export interface InitAnswers {
  own: OwnName
  run: RunMode
}

/** @throws UsageError that names the argument */
export async function initAnswers(input: CommandInput): Promise<InitAnswers> {
  const { values, positionals, interfaceAddresses } = input
  const run = oneOf('--run', RUN_MODES, values.run ?? 'package')
  const https = oneOf('--https', HTTPS_MODES, values.https ?? 'own')
  const host = await answer(input, {
    argument: positionals[0],
    question: 'Host name of this server, such as mail.example.com',
    missing: '<mail host>',
    read: readHost,
  })
  const assigned = interfaceAddresses()
  const addresses = await publicAddresses(input, assigned)
  const email = await answer(input, {
    argument: values.contact,
    question: "Your email address, for the certificate authority, Let's Encrypt, and for alerts",
    missing: '--contact',
    read: readContact,
  })
  const named = values['private-address']
  const privateAddresses = typeof named === 'string' ? usageOf(() => readPrivateAddresses(named)) : undefined
  return { own: ownNameOf({ host, addresses, privateAddresses, email, https }, assigned), run }
}

/** The addresses of the interfaces are only taken if they are all: behind NAT, IPv4 may be missing. */
function publicAddresses(input: CommandInput, assigned: readonly string[]): Promise<string[]> {
  const { found, lacksIpv4 } = publicOnesOf(assigned)
  const list = assigned.length > 0 ? ` (found: ${assigned.join(', ')})` : ''
  const reason = `no network interface has a public ${lacksIpv4 ? 'IPv4 ' : ''}address${list}`
  return answer(input, {
    argument: input.values.address ?? (found.length > 0 && !lacksIpv4 ? found.join(',') : undefined),
    question: `Public IP addresses, separated by commas; ${reason}`,
    missing: `--address: ${reason}; behind NAT, name the public addresses`,
    read: readPublicAddresses,
  })
}

interface Question<T> {
  argument: string | boolean | undefined
  question: string
  /** Name of the argument, for the error without a terminal. */
  missing: string
  /** @throws AnswerFault */
  read(text: string): T
}

/** Asks again until the answer is valid. @throws UsageError when there is no terminal */
async function answer<T>(
  { ask, say }: CommandInput,
  { argument, question, missing, read }: Question<T>,
): Promise<T> {
  if (typeof argument === 'string') return usageOf(() => read(argument))
  for (;;) {
    const text = await ask(question)
    if (text === null) throw new UsageError(`missing ${missing}; see mailhorn help init`)
    try {
      return usageOf(() => read(text))
    } catch (error) {
      if (!(error instanceof UsageError)) throw error
      say(error.message)
    }
  }
}

/** @throws UsageError that names the option */
function usageOf<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof AnswerFault)) throw error
    throw new UsageError(OPTIONS[error.field] + error.message)
  }
}

function oneOf<T extends string>(name: string, known: readonly T[], value: string | boolean): T {
  const found = known.find(one => one === value)
  if (found === undefined) throw new UsageError(`${name} must be one of ${known.join(', ')}, not "${value}"`)
  return found
}
