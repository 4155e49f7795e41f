/** Escapes text for conditions of the form `like … escape '!'`. */

export function containing(text: string): string {
  return `%${text.replace(/[!%_]/g, '!$&')}%`
}

export function endingIn(text: string): string {
  return containing(text).slice(0, -1)
}

export function beginningWith(text: string): string {
  return containing(text).slice(1)
}
