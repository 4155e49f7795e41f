/** What a client of our listeners is told: an SMTP reply as an error, as smtp-server takes it. */
export class Reply extends Error {
  readonly responseCode: number

  /** @param text with its enhanced status code in front (RFC 3463) */
  constructor(responseCode: number, text: string) {
    super(text)
    this.responseCode = responseCode
  }
}
