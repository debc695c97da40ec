"""Reference definitions: findings, regions, modifiers, cues, sections, mappings."""
