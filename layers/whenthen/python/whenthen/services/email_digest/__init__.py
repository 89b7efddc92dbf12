"""Email digest: what happens is collected, and comes in one mail a day or a week."""
