/**
 * The operations that come with this module, one package a family. {@link io.seriatim.graph.ops.BuiltInOperations}
 * lists the classes that register them; an operation is added to the class of its family.
 */
@NullMarked
package io.seriatim.graph.ops;

import org.jspecify.annotations.NullMarked;
