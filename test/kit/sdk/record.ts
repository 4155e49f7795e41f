/**
 * Records what the resend package sends by `fetch`, so that a request can be sent again with another value.
 */

export interface Exchange {
  method: string
  url: string
  headers: Headers
  /** Body of the request: JSON, or the fields of a form with their values as JSON and files as Blobs. */
  body: unknown
  isForm: boolean
}

export interface Recording {
  exchanges: Exchange[]
  stop(): void
}

export function recordFetch(): Recording {
  const original = globalThis.fetch
  const exchanges: Exchange[] = []
  globalThis.fetch = (input, init = {}) => {
    const { method = 'GET', headers, body } = init
    const isForm = body instanceof FormData
    exchanges.push({
      ...{ method, url: String(input), headers: new Headers(headers), isForm },
      body: isForm ? fieldsOf(body) : typeof body === 'string' ? JSON.parse(body) : undefined,
    })
    return original(input, init)
  }
  return {
    exchanges,
    stop() {
      globalThis.fetch = original
    },
  }
}

/** Sends the request again with another body or query. */
export async function repeat(
  { method, url, headers, body, isForm }: Exchange,
  change: { body?: unknown; query?: URLSearchParams },
): Promise<{ status: number; body: unknown }> {
  const target = new URL(url)
  if (change.query) target.search = change.query.toString()
  const value = change.body ?? body
  const sent = new Headers(headers)
  sent.delete('idempotency-key')
  const response = await fetch(target, {
    ...{ method, headers: sent },
    ...(value !== undefined && { body: isForm ? formOf(value as object) : JSON.stringify(value) }),
  })
  return { status: response.status, body: await response.json() }
}

function fieldsOf(form: FormData): object {
  return Object.fromEntries(
    [...form].map(([name, value]) => {
      const isJson = typeof value === 'string' && /^[[{]/.test(value)
      return [name, isJson ? JSON.parse(value) : value]
    }),
  )
}

function formOf(fields: object): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) {
    if (value instanceof Blob) form.append(name, value)
    else form.append(name, typeof value === 'string' ? value : JSON.stringify(value))
  }
  return form
}
