package io.seriatim.train.data;

/** The data that {@link DataFiles#open} reads from a file or folder: text, or examples with labels. */
public sealed interface Data permits TextData, LabelledData {
}
