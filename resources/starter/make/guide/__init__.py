"""Makes Hearth's starter model, the guide: data, tokenizer, training, export and evaluation."""
