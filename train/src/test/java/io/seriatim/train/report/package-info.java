/** Tests of reports. */
@org.jspecify.annotations.NullMarked
package io.seriatim.train.report;
