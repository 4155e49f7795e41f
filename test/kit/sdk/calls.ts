/**
 * Arguments for every method of the newest resend package, in its own types: a method without an entry does
 * not compile.
 */
import type { CreateContactOptions, LegacyCreateContactOptions, Resend } from 'resend'
import type { Mailhorn } from '../mailhorn.ts'
import { ACCOUNT_CALLS } from './calls-account.ts'
import { CONTACT_CALLS } from './calls-contacts.ts'
import { MAIL_CALLS } from './calls-mail.ts'
import { OTHER_CALLS } from './calls-other.ts'

type MethodNames<T, Prefix extends string = ''> = {
  [K in keyof T & string]: T[K] extends (...given: never) => unknown
    ? Prefix extends ''
      ? never
      : `${Prefix}${K}`
    : T[K] extends object
      ? MethodNames<T[K], `${Prefix}${K}.`>
      : never
}[keyof T & string]

/** Such as `emails.receiving.get`. */
export type MethodName = MethodNames<Resend>

type MethodAt<T, Name extends string> = Name extends `${infer K}.${infer Rest}`
  ? K extends keyof T
    ? MethodAt<T[K], Rest>
    : never
  : Name extends keyof T
    ? T[Name]
    : never

/** Arguments of a method. TypeScript infers only the last overload, so overloaded methods are listed. */
type ArgumentsOf<Name extends string> = Name extends 'contacts.create'
  ? [CreateContactOptions | LegacyCreateContactOptions]
  : MethodAt<Resend, Name> extends (...given: infer Given) => unknown
    ? Given
    : never

/**
 * Makes what the calls of a method need, and returns the arguments of each call. The first call has what is
 * required; the others add every further field that the package declares.
 */
export type Calls<Name extends MethodName = MethodName> = {
  [M in Name]: (world: SdkWorld) => Promise<ArgumentsOf<M>[]> | ArgumentsOf<M>[]
}

/** The service that is called, and a client of the package with a credential that may do everything. */
export interface SdkWorld {
  mailhorn: Mailhorn
  resend: Resend
  /** Credential of that client. */
  credential: string
  /** Creates a resource by a POST. @throws when it is refused */
  make(path: string, body: object): Promise<{ id: string; [key: string]: unknown }>
  /** An event that the endpoint of a webhook has received, with the headers of its request. */
  receivedEvent(): Promise<ReceivedWebhook>
  /** A new name for something that may exist once only. */
  fresh(word: string): string
  inHours(hours: number): string
  /** The text without what differs from run to run: ids and new names. */
  plain(text: string): string
}

export interface ReceivedWebhook {
  webhookId: string
  eventId: string
  secret: string
  headers: Record<string, string>
  body: string
}

export const CALLS = {
  ...MAIL_CALLS,
  ...CONTACT_CALLS,
  ...ACCOUNT_CALLS,
  ...OTHER_CALLS,
} satisfies Calls as Calls
