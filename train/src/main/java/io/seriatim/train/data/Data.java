package io.seriatim.train.data;

/** The data of a file or folder, as {@link DataFiles#open} finds it: text, or examples with labels. */
public sealed interface Data permits TextData, LabelledData {
}
