/**
 * The description of a program as data: blocks, operations, variables, attributes, and what can be done with the
 * description alone (text, drawings, pruning, aliases). Nothing here knows schemas, kernels or values of a run.
 */
@NullMarked
package io.seriatim.graph.program;

import org.jspecify.annotations.NullMarked;
