/**
 * Appends an operation to a block: checks it against its schema and infers the types of its outputs. The builder and
 * backward both go through here.
 */
@NullMarked
package io.seriatim.graph.append;

import org.jspecify.annotations.NullMarked;
