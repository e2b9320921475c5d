package io.seriatim.graph.op;

import io.seriatim.graph.program.Attribute;
import org.jspecify.annotations.Nullable;

/**
 * An attribute that an operation takes.
 *
 * @param name
 *            its name
 * @param type
 *            the record of {@link Attribute} that its value is
 * @param byDefault
 *            its value unless given; null if it must be given
 */
public record AttributeSpec(String name, Class<? extends Attribute> type, @Nullable Attribute byDefault) {
}
