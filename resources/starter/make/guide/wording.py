"""Word tables for rewording questions: forms, fillers, spellings, keyboard neighbours."""

FORMS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        r"how (?:do|can|could|would|should|might) (?:i|you|we|one) ",
        (
            "how do I ",
            "how can I ",
            "how to ",
            "how would I ",
            "how should I ",
            "how could I ",
            "how do you ",
            "how does one ",
            "how do we ",
            "what's the way to ",
            "what is the best way to ",
            "is there a way to ",
            "I want to ",
            "I'd like to ",
            "I need to ",
            "show me how to ",
            "tell me how to ",
            "explain how to ",
            "help me ",
            "steps to ",
            "what do I do to ",
            "any idea how to ",
            "where do I go to ",
            "how am I supposed to ",
            "how exactly do I ",
            "how on earth do I ",
            "how ",
        ),
    ),
    (
        r"(?:can|could|may) i ",
        (
            "can I ",
            "could I ",
            "may I ",
            "is it possible to ",
            "am I able to ",
            "is there a way to ",
        ),
    ),
    (
        r"(?:can|could) you ",
        ("can you ", "could you ", "are you able to ", "do you know how to ", "would you "),
    ),
    (
        r"why (?:is|does|do|are|did|has) ",
        ("how come ", "what is the reason ", "what makes ", "why ", "for what reason does "),
    ),
    (r"where (?:is|are) ", ("where is ", "where are ", "where do I find ", "where ")),
    (r"which ", ("which ", "what ", "tell me which ")),
    (r"(?:do|does) ", ("do ", "does ", "would ")),
    (r"is there ", ("is there ", "do you have ", "is there perhaps ", "does it have ")),
    (r"i (?:want|would like|need) to ", ("I want to ", "how do I ", "I'd like to ", "let me ")),
)
"""Openings of questions that may stand for one another, as a pattern and its alternatives."""

DEFINITION = (
    r"(?:what(?:'s| is| are| does)|explain|define|tell me about|describe|meaning of) "
    r"(?:(?:an?|the) )?(?P<thing>[\w.+#'’-]+(?: [\w.+#'’-]+){0,2}?)(?: mean| stand for)?[?.!]*$"
)
"""A question for the meaning of a short term."""

DEFINITION_FORMS = (
    "what is {}",
    "what's {}",
    "whats {}",
    "what are {}",
    "explain {}",
    "{}",
    "{}?",
    "meaning of {}",
    "tell me about {}",
    "define {}",
    "what does {} mean",
    "what is a {}",
    "what is the {}",
    "explain {} to me",
    "{} meaning",
    "{} explained",
    "what do you mean by {}",
    "what exactly is {}",
    "{} what is it",
    "what on earth is {}",
    "I keep reading about {}",
    "can you explain {}",
    "what do people mean by {}",
    "I don't understand {}",
    "help me understand {}",
    "describe {} in simple words",
)

OPENERS = (
    "hi, ", "hello, ", "hey, ", "hi! ", "hello! ", "hey ", "hi ", "please ", "quick question: ",
    "question: ", "can you tell me ", "could you tell me ", "tell me, ", "tell me ", "so ", "so, ",
    "ok, ", "ok so ", "and ", "but ", "well, ", "um, ", "sorry, ", "excuse me, ", "I wonder ",
    "I was wondering, ", "I would like to know ", "I want to know ", "do you know ",
    "please tell me ", "just wondering, ", "one more thing: ", "another question, ", "also, ",
    "hearth, ", "guide, ", "I am new here. ", "I have a question. ", "actually, ", "by the way, ",
    "remind me, ", "say, ", "could you explain ", "help: ", "now ", "then ", "alright, ",
    "dear guide, ", "pls ", "not sure if you know, but ",
)  # fmt: skip

CLOSERS = (
    " please", ", please", " thanks", ", thanks", " thank you", " pls", " plz", " here",
    " exactly", " then", " now", " in hearth", " with hearth", " in this app", " for me",
    " on my computer", " on this computer", ", do you know", ", can you tell me", " really",
    " anyway", " at all", ", any idea", " today", " again", " actually", " by the way",
    ", I wonder", ", guide", ", mate", " in simple words", " in short",
)  # fmt: skip

CONTRACTIONS: tuple[tuple[str, str], ...] = (
    ("what is", "what's"),
    ("where is", "where's"),
    ("how is", "how's"),
    ("who is", "who's"),
    ("that is", "that's"),
    ("it is", "it's"),
    ("i am", "I'm"),
    ("i have", "I've"),
    ("i would", "I'd"),
    ("do not", "don't"),
    ("does not", "doesn't"),
    ("did not", "didn't"),
    ("is not", "isn't"),
    ("are not", "aren't"),
    ("can not", "can't"),
    ("cannot", "can't"),
    ("will not", "won't"),
    ("you are", "you're"),
    ("there is", "there's"),
)

DROPPABLE = frozenset(
    "a an the do does did i my me is are am to of for in on it this that please can could you your "
    "would should will be with and so just really any some there if have has or at one".split()
)
"""Small words a question often survives without."""

CHATTY = {
    "you": ("u", "ya"),
    "your": ("ur", "yr"),
    "are": ("r",),
    "please": ("pls", "plz"),
    "thanks": ("thx", "ty"),
    "because": ("cos", "bc"),
    "what": ("wat", "wht"),
    "why": ("y",),
    "with": ("w/",),
    "without": ("w/o",),
    "and": ("&", "n"),
    "to": ("2",),
    "for": ("4",),
    "want to": ("wanna",),
    "going to": ("gonna",),
    "don't know": ("dunno", "dont know"),
    "have to": ("gotta",),
    "something": ("smth", "sth"),
    "really": ("rly",),
    "about": ("abt",),
}
"""Spellings of hurried messages."""

NEIGHBOURS = {
    "a": "qsz", "b": "vgn", "c": "xdv", "d": "sfe", "e": "wrd", "f": "dgr", "g": "fht", "h": "gjy",
    "i": "uok", "j": "hku", "k": "jli", "l": "kop", "m": "nj", "n": "bmh", "o": "ipl", "p": "ol",
    "q": "wa", "r": "etf", "s": "adw", "t": "ryg", "u": "yij", "v": "cbf", "w": "qes", "x": "zcs",
    "y": "tuh", "z": "xas",
}  # fmt: skip
"""Keys beside each key."""

SYSTEM_PROMPTS = (
    "You are a helpful assistant.",
    "You are the guide of Hearth.",
    "You are Hearth's guide. Answer briefly.",
    "Be brief and friendly.",
    "Answer in plain English.",
    "You are a helpful, honest assistant.",
    "You are an expert programmer.",
    "Speak like a pirate.",
    "You are a patient teacher. Explain things simply.",
    "Always answer in one sentence.",
    "You are a translator.",
    "Be polite. Use short sentences.",
    "You write stories for children.",
)

SUBJECTS = (
    "hearth", "chat", "chats", "conversation", "conversations", "model", "models", "llm", "app",
    "program", "software", "file", "files", "answer", "answers", "reply", "setting", "settings",
    "folder", "computer", "laptop", "pc", "machine", "engine", "window", "theme", "version",
    "message", "messages", "discussion", "document", "picture", "image", "photo", "pdf", "colour",
    "name", "joke", "memory", "language", "languages", "license", "licence", "shortcut",
    "shortcuts", "account", "terminal",
)  # fmt: skip
"""Subjects of many questions about Hearth. With another word in its place, a question is one that
the guide cannot answer."""

TERMS = frozenset(
    "gguf mtp drafter draft quant quants quantisation quantization q4 q8 token tokens context "
    "kv cache gpu gpus ram vram cuda vulkan metal vllm llama llama.cpp gemma gemma4 hugging "
    "huggingface temperature seed thinking reasoning hallucinate telemetry offline internet "
    "prompt system api server openai chatgpt ollama guide you your ai bot".split()
)
"""Words that keep any question within the guide's knowledge."""

FOREIGN_SLOTS = (
    "object", "animal", "device", "software", "plant", "food", "instrument", "drink", "material",
    "noun", "book", "film", "profession", "bodypart",
)  # fmt: skip
"""Slots of out_of_scope.toml whose words can stand for a thing."""
