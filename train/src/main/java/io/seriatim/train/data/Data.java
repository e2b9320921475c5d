package io.seriatim.train.data;

/** What a file or folder holds to learn from, as {@link DataFiles#open} finds it: text, or examples with labels. */
public sealed interface Data permits TextData, LabelledData {
}
