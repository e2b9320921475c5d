/**
 * PaddlePaddle 3's programs: {@code NAME.json}, in its intermediate representation PIR. A table, the resource
 * {@code io/seriatim/graph/pir/operations.txt}, gives each operation of PIR its type, slots and attributes here.
 */
@NullMarked
package io.seriatim.graph.format.pir;

import org.jspecify.annotations.NullMarked;
