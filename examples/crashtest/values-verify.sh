# Check of docs/test-your-program.md: every marked value is there.
while read -r n; do
  dd if="$SSDLAB_FILE" bs=512 skip="$n" count=1 status=none | grep -q "value $n " ||
    { echo "value $n is missing"; exit 1; }
done < "$SSDLAB_MARKS"
