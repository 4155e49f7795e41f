/** Serves the version of the program and its changes to operators, from the changelog that comes with it. */
import * as z from 'zod'
import { requireOperator } from '../auth/operator.ts'
import { ok, type Route } from '../route/route.ts'

const releaseSchema = z
  .object({
    version: z.string().nullable().meta({ description: 'Null for changes after the last release.' }),
    date: z.string().nullable(),
    sections: z.array(
      z.object({
        title: z.string().meta({ description: 'Such as `Added` or `Fixed`.' }),
        items: z.array(z.string()).meta({ description: 'Markdown, one change each.' }),
      }),
    ),
  })
  .meta({ id: 'Release' })

const releasesSchema = z.object({
  object: z.literal('releases'),
  version: z.string().meta({ description: 'Version that is running.' }),
  data: z.array(releaseSchema).meta({ description: 'Newest first; empty if the changelog is missing.' }),
})

type Release = z.output<typeof releaseSchema>
export type ReleasesView = z.output<typeof releasesSchema>

interface ReleaseRoutesOptions {
  version: string
  /** @returns the changelog in Markdown; undefined if it is not there */
  readChangelog(): Promise<string | undefined>
}

export function releaseRoutes({ version, readChangelog }: ReleaseRoutesOptions): Route[] {
  return [
    {
      method: 'GET',
      path: '/installation/releases',
      access: 'session',
      scopes: ['operator'],
      summary: 'Retrieve the version that is running, and what each release has changed (operator)',
      replies: { 200: releasesSchema },
      async handle(request) {
        requireOperator(request)
        return ok({ object: 'releases', version, data: releasesIn((await readChangelog()) ?? '') })
      },
    },
  ]
}

/** Reads a changelog whose releases have headings such as `## 0.1.0 - 2026-11-27`. */
export function releasesIn(changelog: string): Release[] {
  const [, ...releases] = `\n${changelog}`.split(/\n## /)
  return releases.map(release => {
    const [head = '', ...sections] = release.split(/\n### /)
    const [, version = null, date = null] = /^v?(\d\S*)(?: - (\S+))?/.exec(head) ?? []
    return { version, date, sections: sections.map(sectionIn) }
  })
}

function sectionIn(text: string): Release['sections'][number] {
  const [title = '', ...items] = text.split(/\n- /)
  return { title: title.trim(), items: items.map(item => item.trim().replace(/\s+/g, ' ')) }
}
