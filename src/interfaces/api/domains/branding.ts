/** Reads the name, the colour and the logo that recipients' pages show. */
import * as z from 'zod'
import type { BrandChanges, LogoType } from '../../../resources/domains/brands.ts'
import { invalidField } from '../api-error.ts'
import { readContent } from '../emails/attachment-content.ts'
import { shownValue } from '../schema/broken-rule.ts'

const NAME_CHARACTERS_MAX = 100
export const LOGO_BYTES_MAX = 100 * 1024

export const brandingSchema = z.object({
  name: z.string().nullable(),
  color: z.string().nullable().meta({ description: '`#rrggbb`' }),
  logo_url: z.url().nullable(),
})

const FIELDS = ['name', 'color', 'logo']

/** A misspelt member would otherwise leave the brand as it is. */
export const brandingChangesSchema = z
  .looseObject({
    name: z
      .string()
      .nullish()
      .meta({
        description: `Name of the sender, at most ${NAME_CHARACTERS_MAX} characters. An empty string removes it.`,
      }),
    color: z
      .string()
      .nullish()
      .meta({ description: 'Colour of buttons as `#rrggbb`. An empty string removes it.' }),
    logo: z
      .string()
      .nullish()
      .meta({
        description: `PNG, JPEG or WebP of at most ${LOGO_BYTES_MAX} bytes, in base64. An empty string removes it.`,
      }),
    logo_url: z.unknown().optional().meta({ description: 'Read only.' }),
  })
  .refine(branding => unknownMember(branding) === undefined, {
    error: ({ input }) =>
      `must contain only \`name\`, \`color\` and \`logo\`; got ${shownValue(unknownMember(input as object))}`,
  })

function unknownMember(branding: object): string | undefined {
  return Object.keys(branding).find(key => key !== 'logo_url' && !FIELDS.includes(key))
}

/** @throws ApiError 422 */
export function readBranding({
  name,
  color,
  logo,
}: Pick<z.output<typeof brandingChangesSchema>, 'name' | 'color' | 'logo'> = {}): BrandChanges {
  return {
    ...(typeof name === 'string' && { name: readName(name) }),
    ...(typeof color === 'string' && { color: readColor(color) }),
    ...(typeof logo === 'string' && { logo: readLogo(logo) }),
  }
}

function readName(text: string): string | null {
  const name = text.trim()
  const isGood =
    name.length <= NAME_CHARACTERS_MAX && !/[\p{Cc}\u2028\u2029]/u.test(name) && name.isWellFormed()
  if (!isGood)
    throw invalidField(
      'branding.name',
      `\`branding.name\` must be one line of at most ${NAME_CHARACTERS_MAX} characters; got ${shownValue(text)}.`,
    )
  return name === '' ? null : name
}

function readColor(text: string): string | null {
  const color = text.trim().toLowerCase()
  if (color !== '' && !/^#[\da-f]{6}$/.test(color))
    throw invalidField(
      'branding.color',
      `\`branding.color\` must be a colour such as \`#1c7047\`; got ${shownValue(text)}.`,
    )
  return color === '' ? null : color
}

function readLogo(text: string): NonNullable<BrandChanges['logo']> | null {
  if (text === '') return null
  const content = readContent(text, false)
  if ('fault' in content) throw invalidField('branding.logo', `\`branding.logo\` ${content.fault}.`)
  const { bytes } = content
  if (bytes.length > LOGO_BYTES_MAX)
    throw invalidField(
      'branding.logo',
      `\`branding.logo\` must have at most ${LOGO_BYTES_MAX} bytes; got ${bytes.length}.`,
    )
  const type = imageType(bytes)
  if (!type) throw invalidField('branding.logo', '`branding.logo` must be a PNG, JPEG or WebP image.')
  return { type, bytes }
}

/** First bytes of the formats, as Latin-1. Dots stand for any byte. */
const BEGINNINGS: readonly (readonly [LogoType, RegExp])[] = [
  ['image/png', /^\x89PNG\r\n\x1a\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/webp', /^RIFF....WEBPVP8/s],
]

function imageType(bytes: Uint8Array): LogoType | undefined {
  const beginning = Buffer.from(bytes.subarray(0, 16)).toString('latin1')
  return BEGINNINGS.find(([, pattern]) => pattern.test(beginning))?.[0]
}
