/** What a person tells a waiting run: an answer to `ask_human`, or a decision on the command with this request id. */
export type Reply = { kind: 'answer'; text: string } | { kind: 'approve' | 'deny'; requestId: string }
