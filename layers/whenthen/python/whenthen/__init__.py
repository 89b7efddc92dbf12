"""whenthen: when something happens in one service, then do something in another, exactly once."""
