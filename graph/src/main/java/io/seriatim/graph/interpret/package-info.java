/**
 * Runs a program operation by operation in the order in which it is written: the reference that plans are compared
 * with. It also carries out control flow, files and tensor lists, for plans too.
 */
@NullMarked
package io.seriatim.graph.interpret;

import org.jspecify.annotations.NullMarked;
