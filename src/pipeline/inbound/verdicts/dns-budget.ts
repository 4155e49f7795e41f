/**
 * DNS resolver for mailauth with a limit on look-ups per message. Senders choose the names, so without a
 * limit they could make the service query any name server any number of times (RFC 7208 §11.1).
 */
import type { Answer, LookUp } from '../../../protocols/dns/answer.ts'
import type { Resolver } from '../../../protocols/dns/resolver.ts'

export type BudgetedResolver = Pick<Resolver, 'txt' | 'addresses4' | 'addresses6' | 'mx' | 'ptr' | 'cname'>

/** Returns the resolver with `around` around each look-up. */
export function resolverAround(
  resolver: BudgetedResolver,
  around: <T>(ask: () => Promise<Answer<T>>) => Promise<Answer<T>>,
): BudgetedResolver {
  const wrapped =
    <T>(ask: LookUp<T>): LookUp<T> =>
    (...question) =>
      around(() => ask(...question))
  return {
    txt: wrapped(resolver.txt),
    addresses4: wrapped(resolver.addresses4),
    addresses6: wrapped(resolver.addresses6),
    mx: wrapped(resolver.mx),
    ptr: wrapped(resolver.ptr),
    cname: wrapped(resolver.cname),
  }
}

export interface DnsBudget {
  /** Resolves like the runtime's `dns.resolve`, with the same error codes. @throws DnsFault */
  ask(name: string, type: string): Promise<string[]>
  /** Reason of the first look-up that failed; undefined when none did. */
  failure(): string | undefined
  /** Refuses all further look-ups. */
  end(): void
}

/**
 * Has no stack: most messages cause such errors, and the stack would cost more than everything else about
 * them.
 */
class DnsFault extends Error {
  readonly code: string | undefined

  constructor(message: string, code?: string) {
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(message)
    Error.stackTraceLimit = stackTraceLimit
    this.code = code
  }
}

/** Useful records are shorter: an RSA key of 16,384 bits takes 2,800 characters. */
const TXT_CHARACTERS_MAX = 8_192
const RECORDS_MAX = 100

/** @param max maximum number of look-ups */
export function createDnsBudget(resolver: BudgetedResolver, max: number): DnsBudget {
  let queryCount = 0
  let isOver = false
  let failure: string | undefined

  const fail = (reason: string): DnsFault => {
    failure ??= reason
    return new DnsFault(reason)
  }
  return {
    async ask(name, type) {
      if (isOver) throw fail('time is over')
      if (queryCount >= max) throw fail(`more than ${max} DNS look-ups`)
      queryCount += 1
      const answer = await lookUp(resolver, name, type)
      if (answer.kind === 'no-domain') throw new DnsFault(`${name} does not exist`, 'ENOTFOUND')
      if (answer.kind === 'no-data') throw new DnsFault(`${name} has no ${type} record`, 'ENODATA')
      if (answer.kind === 'failure') throw fail(`${name}: ${answer.reason}`)
      if (isTooLarge(answer.records)) throw fail(`${name}: the answer is too large`)
      return [...answer.records]
    },
    failure: () => failure,
    end() {
      isOver = true
    },
  }
}

async function lookUp(resolver: BudgetedResolver, name: string, type: string): Promise<Answer<string>> {
  switch (type) {
    case 'TXT':
      return resolver.txt(name)
    case 'A':
      return resolver.addresses4(name)
    case 'AAAA':
      return resolver.addresses6(name)
    case 'PTR':
      return resolver.ptr(name)
    case 'CNAME':
      return resolver.cname(name)
    case 'MX':
      return mxOf(await resolver.mx(name))
    default:
      throw new Error(`nobody asks for ${type}`)
  }
}

/** mailauth expects objects for MX, contrary to its types. */
function mxOf(answer: Awaited<ReturnType<Resolver['mx']>>): Answer<string> {
  if (answer.kind !== 'found') return answer
  const records = answer.records.map(({ exchange, preference: priority }) => ({ exchange, priority }))
  return { kind: 'found', records: records as unknown as string[] }
}

function isTooLarge(records: readonly string[]): boolean {
  return records.length > RECORDS_MAX || records.some(({ length }) => length > TXT_CHARACTERS_MAX)
}
