"""The Slack bot: listens where the team talks, asks the advisor, answers in Block Kit. It computes no figure itself."""
